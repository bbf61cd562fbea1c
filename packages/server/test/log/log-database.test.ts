import { expect, test } from 'vitest';
import { storableJson } from '../../src/log/log-database.ts';

test.each(['a\0b', '\0', '\\\0', '\\u0000', '\\\\u0000\0\0'])('%j: NUL is replaced, and nothing else', (text) => {
  const line = `${JSON.stringify({ text })}\n`;

  expect(JSON.parse(storableJson(line))).toEqual({ text: text.replaceAll('\0', '\ufffd') });
});
