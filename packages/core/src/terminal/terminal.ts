/** Text on terminals: prompts, escapes of control characters, and columns. */
export { escapeControlCharacters } from '../validation/escape.ts';
export { type Ask, onTerminal, PromptCancelled, type TerminalStreams } from './prompt.ts';
export { displayWidth, padToWidth, truncate, wrap } from './text-width.ts';
