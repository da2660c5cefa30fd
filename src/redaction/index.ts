export { redactRows } from './rows';
export { redactText } from './text';
