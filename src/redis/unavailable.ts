/** Redis does not answer in time, or not as it should, or the circuit breaker in front of it is open. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
}
