import { display } from './display.ts';

/** What a host's callback makes of a name. What it throws, and what is no text, fails the start and names the callback. */
export function madeByHost(option: string, name: string, make: () => unknown): string {
  let made: unknown;
  try {
    made = make();
  } catch (error) {
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw new TypeError(`${option} failed for ${display(name)}: ${message}`, { cause: error });
  }
  if (typeof made === 'string') return made;
  throw new TypeError(`${option} made ${String(made)} of ${display(name)}, which is no text`);
}
