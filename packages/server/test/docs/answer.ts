/**
 * Whether a page shows the printed text. `…` matches any text. A page may break and indent JSON, outside its strings.
 * Trailing line ends are ignored. `Age` and `max-age` in the headers may have changed.
 * @param seconds the maximum change: the time since the page began
 */
export function isShown(shown: string, printed: string, seconds: number = 0): boolean {
  const then = counters.reduce((text, counter) => putBack(shown, text, { ...counter, seconds }), printed);
  return [asIs, withoutSpace].some((form) => patternOf(form(shown.trimEnd())).test(form(then.trimEnd())));
}

/** Header values in seconds, and the direction of their change. */
const counters = [
  { pattern: /(?<=^HTTP\/1\.1 (?:.+\n)*age: )\d+$/m, direction: 1 },
  { pattern: /(?<=^HTTP\/1\.1 (?:.+\n)*cache-control: .*max-age=)\d+/m, direction: -1 },
] as const;

/** Replaces a number by the shown one if they differ by the time passed at most. */
function putBack(
  shown: string,
  printed: string,
  { pattern, direction, seconds }: (typeof counters)[number] & { readonly seconds: number },
): string {
  const [before] = pattern.exec(shown) ?? [];
  const [now] = pattern.exec(printed) ?? [];
  if (before === undefined || now === undefined) return printed;
  const passed = (Number(now) - Number(before)) * direction;
  return passed >= 0 && passed <= seconds ? printed.replace(pattern, before) : printed;
}

function asIs(text: string): string {
  return text;
}

/** JSON without formatting whitespace; it is the last paragraph if headers come before it. */
function withoutSpace(text: string): string {
  const head = /^HTTP\/1\.1 [^]*?\n\n/.exec(text)?.[0] ?? '';
  return (
    head +
    text.slice(head.length).replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
  );
}

function patternOf(shown: string): RegExp {
  const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^]*?')}$`);
}
