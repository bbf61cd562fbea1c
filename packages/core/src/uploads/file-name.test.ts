import { describe, expect, test } from 'vitest';
import { checkPathValue, safeFileName, uniqueFileName } from './file-name.ts';

describe('unique names', () => {
  test.each([
    ['cover.png', '.png'],
    ['archive.tar.GZ', '.GZ'],
    ['.htaccess', '.htaccess'],
    ['1234567890.abcdefghij123456', '.abcdefghij123456'],
    ['1234567890.abcdefghij1234567', ''],
    ['cover', ''],
    ['cover.', ''],
    ['cover.pn g', ''],
    ['cover.png\0', ''],
    ['cover.png/../x', ''],
    ['cover.png:stream', ''],
    ['cover.µ', ''],
    ['', ''],
  ])('%j gets the extension %j', (clientName, extension) => {
    const name = uniqueFileName(clientName);

    expect(name.slice(0, 36)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(name.slice(36)).toBe(extension);
  });
});

describe('safe names', () => {
  test.each([
    ['cover.png', 'cover.png'],
    ['Übersicht 2026 (1).tar.gz', 'Übersicht 2026 (1).tar.gz'],
    ['図書館.csv', '図書館.csv'],
    ['👩‍🚀.png', '👩‍🚀.png'],
    ['U\u0308ber.txt', 'Über.txt'],
  ])('%j becomes %j: a usual name', (clientName, name) => {
    expect(safeFileName(clientName)).toBe(name);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\windows\\system.ini', 'system.ini'],
    ['/etc/passwd', 'passwd'],
    ['C:\\autoexec.bat', 'autoexec.bat'],
    ['\\\\server\\share\\x.txt', 'x.txt'],
    ['C:x.txt', 'C_x.txt'],
    ['a/b\\c/d.txt', 'd.txt'],
    ['....//x', 'x'],
  ])('%j becomes %j: a path', (clientName, name) => {
    expect(safeFileName(clientName)).toBe(name);
  });

  test.each([
    ['x.txt\0.png', 'x.txt_.png'],
    ['x\r\nSet-Cookie: a.txt', 'x Set-Cookie_ a.txt'],
    ['\u001b[31mx', '_[31mx'],
    ['gpj\u202e.exe', 'gpj_.exe'],
    ['\u2066x\u2069.txt', '_x_.txt'],
    ['x\u2028y\u0085z', 'x_y_z'],
    ['\ud800x', '_x'],
    ['x.txt:stream', 'x.txt_stream'],
    ['x.txt::$DATA', 'x.txt_$DATA'],
    ['<b>"x"|?*.txt', '_b_x_.txt'],
  ])('%j becomes %j: characters', (clientName, name) => {
    expect(safeFileName(clientName)).toBe(name);
  });

  test.each([
    ['x. . .', 'x'],
    ['x.txt ', 'x.txt'],
    [' x', 'x'],
    ['.htaccess', 'htaccess'],
    ['...x', 'x'],
    ['. .x', 'x'],
    ['CON', 'CON_'],
    ['nul.txt', 'nul_.txt'],
    ['Com1.tar.gz', 'Com1_.tar.gz'],
    ['LPT³', 'LPT³_'],
    ['aux .x', 'aux_.x'],
    ['~', '~'],
  ])('%j becomes %j: beginning, end, reserved names', (clientName, name) => {
    expect(safeFileName(clientName)).toBe(name);
  });

  test.each(['', '.', '..', '...', ' ', '\t', 'x/', 'x\\', '/', '. . .', '\u00a0'])(
    'nothing is left of %j',
    (clientName) => {
      expect(safeFileName(clientName)).toBeNull();
    },
  );

  test.each([
    ['4 kB', `${'x'.repeat(4092)}.txt`, `${'x'.repeat(250)}.txt`],
    ['4 kB without an extension', 'x'.repeat(4096), 'x'.repeat(254)],
    ['characters of two bytes', `${'ü'.repeat(200)}.txt`, `${'ü'.repeat(125)}.txt`],
    ['characters of four bytes', `x${'😀'.repeat(100)}.png`, `x${'😀'.repeat(62)}.png`],
    ['a long extension', `x.${'y'.repeat(300)}`, `x.${'y'.repeat(252)}`],
    ['spaces before the extension', `CON${' '.repeat(300)}.txt`, 'CON_.txt'],
    ['spaces at the end', `x.txt${' '.repeat(300)}`, 'x.txt'],
  ])('a long name is cut: %s', (_, clientName, name) => {
    expect(safeFileName(clientName)).toBe(name);
  });

  test('the time grows with the length of the name, not with its square', () => {
    expect(safeFileName(`x${'. '.repeat(500_000)}y`)).toBe('x');
    expect(safeFileName(`${'. '.repeat(500_000)}y`)).toBe('y');
    expect(safeFileName('.xy'.repeat(500_000))).toBe(`${'xy.'.repeat(83)}xy.xy`);
  });
});

describe('values in paths', () => {
  test.each([
    'acme',
    'Ünïcode 1',
    '2026-01',
    'x.png',
    'a..b',
    '~',
    '-',
    '👩‍🚀',
    'console',
    'x'.repeat(255),
    'ü'.repeat(127),
  ])('%j is a path component', (value) => {
    expect(checkPathValue(value)).toBeNull();
  });

  test.each([
    ['', 'must not be empty'],
    ['.', 'must not begin with a dot'],
    ['..', 'must not begin with a dot'],
    ['.git', 'must not begin with a dot'],
    ['../x', 'must not begin with a dot'],
    ['a/b', 'must not contain slashes or backslashes'],
    ['/etc', 'must not contain slashes or backslashes'],
    ['a\\b', 'must not contain slashes or backslashes'],
    ['C:', 'must not contain colons'],
    ['a:b', 'must not contain colons'],
    ['a\0', 'must not contain control characters'],
    ['a\nb', 'must not contain control characters'],
    ['a\u007f', 'must not contain control characters'],
    ['a\u202eb', 'must not contain control characters'],
    ['a\u2028b', 'must not contain control characters'],
    ['a\udc00', 'must not contain control characters'],
    ['a.', 'must not end with a dot or a space'],
    ['a ', 'must not end with a dot or a space'],
    [' ', 'must not end with a dot or a space'],
    ['CON', 'must not be a device name of Windows'],
    ['nul.txt', 'must not be a device name of Windows'],
    ['COM1', 'must not be a device name of Windows'],
    ['x'.repeat(256), 'must not be longer than 255 bytes'],
    ['ü'.repeat(128), 'must not be longer than 255 bytes'],
  ])('%j %s', (value, fault) => {
    expect(checkPathValue(value)).toBe(fault);
  });
});
