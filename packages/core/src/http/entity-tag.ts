/** The tags of an `If-Match` or `If-None-Match` list (RFC 9110, 8.8.3), quotes included, without the mark of weak ones. */
export function entityTags(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? [];
}
