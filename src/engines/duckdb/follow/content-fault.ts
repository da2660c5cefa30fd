/** Why the content of a file is not what its name says, or ends before it should. */
export class ContentFault extends Error {
  override readonly name = 'ContentFault';
}
