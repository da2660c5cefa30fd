export type { CreateOptions, KeyScope } from './command';
export { type HeaderValues, presentedKey, presentsKey } from './credentials';
export { START_KEY_NAME } from './entry';
export type { Key, PinnedValue } from './key';
export { type KeyRing, type KeyRingOptions, NoKeyError, openKeyRing, type StartKey } from './key-ring';
export { KeysFileError } from './keys-file';
export { START_KEY_FILE } from './start-key';
