/**
 * Whether a page shows what was printed. `…` stands for any text; a page may break and indent JSON, outside of its
 * strings, to fit the width; line ends at the end do not count.
 */
export function isShown(shown: string, printed: string): boolean {
  return [asIs, withoutSpace].some((form) => patternOf(form(shown.trimEnd())).test(form(printed.trimEnd())));
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
