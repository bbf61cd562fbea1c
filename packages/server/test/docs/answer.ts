/**
 * Whether a page shows what was printed. `…` stands for any text; a page may break and indent JSON, outside of its
 * strings, to fit the width; line ends at the end do not count. In a head, `Age` and `max-age` may have moved on.
 * @param seconds how far at most: what has passed since the page began
 */
export function isShown(shown: string, printed: string, seconds: number = 0): boolean {
  const then = counters.reduce((text, counter) => putBack(shown, text, { ...counter, seconds }), printed);
  return [asIs, withoutSpace].some((form) => patternOf(form(shown.trimEnd())).test(form(then.trimEnd())));
}

/** What a head counts in seconds, and in which direction. */
const counters = [
  { pattern: /(?<=^HTTP\/1\.1 (?:.+\n)*age: )\d+$/m, direction: 1 },
  { pattern: /(?<=^HTTP\/1\.1 (?:.+\n)*cache-control: .*max-age=)\d+/m, direction: -1 },
] as const;

/** The number is the shown one again, where no more than the time that has passed lies between the two. */
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

/** JSON, which is the last paragraph when there is a head before it, without what is only there to be read. */
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
