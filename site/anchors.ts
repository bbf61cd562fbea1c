/** Returns the anchor of a heading, without its Markdown marks, as GitHub makes it. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the anchors of a page. The second heading of a name ends with `-1`. */
export function pageAnchors(lines: readonly string[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of headings(lines)) {
    const anchor = headingAnchor(heading);
    let name = anchor;
    for (let count = 1; anchors.has(name); count += 1) name = `${anchor}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** Returns the headings outside of code blocks, with the text of their links. */
export function headings(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  /** The characters that end the block. */
  let fence: string | null = null;
  for (const line of lines) {
    if (fence === null) fence = /^`{3,}/.exec(line)?.[0] ?? null;
    else if (line === fence) fence = null;
    const heading = fence === null ? /^#{1,6} (.*)$/.exec(line) : null;
    if (heading !== null) found.push(heading[1]!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
  }
  return found;
}
