/** The name of a domain that says which media type its values have, such as `text/html`. */
const mediaType = /^(?:[a-z\d][\w!#$&^.+-]{0,126}\/[a-z\d][\w!#$&^.+-]{0,126}|\*\/\*)$/i;

/** Returns the media type that a name is; null for other names. */
export function mediaTypeOfName(name: string): string | null {
  return mediaType.test(name) ? name.toLowerCase() : null;
}

/** Returns the media type that a type has by its name; null for other types. @param sql the quoted and qualified name */
export function mediaTypeOf(sql: string): string | null {
  const [, quoted = ''] = /\."((?:[^"]|"")+)"$/.exec(sql) ?? [];
  return mediaTypeOfName(quoted);
}
