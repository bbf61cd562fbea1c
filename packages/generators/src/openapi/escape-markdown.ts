/** Escapes HTML tags and script links: descriptions are Markdown. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/<(?=[a-z/!?])/gi, '&lt;')
    .replaceAll(/\](?=[(:]\s*(?:&lt;|<)?\s*(?:javascript|vbscript|data):)/gi, String.raw`]\ `.trimEnd());
}
