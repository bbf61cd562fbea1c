/** Text as a description, which OpenAPI reads as Markdown: HTML in it is shown, and no link runs a script. */
export function markdown(text: string): string {
  return text
    .replaceAll(/<(?=[a-z/!?])/gi, '&lt;')
    .replaceAll(/\](?=[(:]\s*(?:&lt;|<)?\s*(?:javascript|vbscript|data):)/gi, String.raw`]\ `.trimEnd());
}
