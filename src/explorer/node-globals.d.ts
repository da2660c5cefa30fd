/** Of Node, in a function of the shared rooms that the page never calls (concurrency/allowance.ts). */
declare function setImmediate(callback: () => void): unknown;
