import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { form, type FormEntry } from './forms.ts';

const endpoint = (name: string, options: string): string => `
  create function ${name}(_meta json) returns json language sql as 'select _meta';
  comment on function ${name} is 'HTTP
  upload _meta as metadata
  ${options}';`;

const gateway = useGateway(
  endpoint('types', 'included_mime_types = image/*, text/pl?in\nexcluded_mime_types = image/svg*') +
    endpoint('texts', 'check_text = true') +
    endpoint('short_texts', 'check_text = true\ntest_buffer_size = 8\nnon_printable_threshold = 1') +
    endpoint('images', 'check_image = true') +
    endpoint('some_images', 'large_object_check_image = png, jpg') +
    endpoint('all_checks', 'included_mime_types = text/*\ncheck_text = true\ncheck_image = true'),
);

async function statuses(path: string, ...files: readonly FormEntry[]): Promise<readonly string[]> {
  const answer = await gateway.send(`POST /api/${path}`, { body: form(...files) });
  expect(answer.status).toBe(200);
  const metadata = JSON.parse(answer.body) as readonly { status: string; success: boolean; oid: number | null }[];
  for (const { status, success, oid } of metadata) {
    expect(success).toBe(status === 'Ok');
    expect(oid === null).toBe(status !== 'Ok');
  }
  return metadata.map(({ status }) => status);
}

const png = Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1');
const images: readonly FormEntry[] = [
  ['a.png', png],
  ['a.jpg', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
  ['a.gif', 'GIF89a..'],
  ['b.gif', 'GIF87a..'],
  ['a.bmp', 'BM......'],
  ['a.tiff', 'II*\0....'],
  ['b.tiff', 'MM\0*....'],
  ['a.webp', 'RIFF\0\0\0\0WEBPVP8 '],
];

describe('checks of files', () => {
  test('media types: one of the included, none of the excluded', async () => {
    expect(
      await statuses(
        'types',
        ['a', 'x', 'image/png'],
        ['b', 'x', 'IMAGE/GIF'],
        ['c', 'x', 'text/plain'],
        ['d', 'x', 'text/html'],
        ['e', 'x', 'image/svg+xml'],
        ['f', 'x', 'application/json'],
      ),
    ).toEqual(['Ok', 'Ok', 'Ok', 'InvalidMimeType', 'InvalidMimeType', 'InvalidMimeType']);
  });

  test('texts: no zero byte, at most five control characters in the first 4096 bytes', async () => {
    expect(
      await statuses(
        'texts',
        ['a', 'plain\ttext\r\n'],
        ['b', ''],
        ['c', 'zero\0'],
        ['d', '\x01\x02\x03\x04\x05'],
        ['e', '\x01\x02\x03\x04\x05\x06'],
        ['f', `${'x'.repeat(4096)}\0`],
        ['g', 'ünïcode €'],
        ['h', '\x7f'.repeat(6)],
      ),
    ).toEqual(['Ok', 'Empty', 'ProbablyBinary', 'Ok', 'ProbablyBinary', 'Ok', 'Ok', 'ProbablyBinary']);
  });

  test('texts with other limits', async () => {
    expect(await statuses('short-texts', ['a', '\x01'], ['b', '\x01\x02'], ['c', '12345678\0'])).toEqual([
      'Ok',
      'ProbablyBinary',
      'Ok',
    ]);
  });

  test('images by their leading bytes', async () => {
    expect(await statuses('images', ...images)).toEqual(images.map(() => 'Ok'));
    expect(
      await statuses(
        'images',
        ['a.png', 'not an image'],
        ['b.png', ''],
        ['c.svg', '<svg/>'],
        ['d.wav', 'RIFF\0\0\0\0WAVE'],
      ),
    ).toEqual(['InvalidImage', 'InvalidImage', 'InvalidImage', 'InvalidImage']);
  });

  test('images of some formats', async () => {
    expect(await statuses('some-images', ...images)).toEqual([
      'Ok',
      'Ok',
      ...images.slice(2).map(() => 'InvalidImage'),
    ]);
  });

  test('the order: media type, text, image', async () => {
    expect(
      await statuses('all-checks', ['a', 'x\0', 'image/png'], ['b', 'x\0', 'text/plain'], ['c', 'x', 'text/plain']),
    ).toEqual(['InvalidMimeType', 'ProbablyBinary', 'InvalidImage']);
  });

  test('a refused file has its size, and the function is called', async () => {
    const answer = await gateway.send('POST /api/types', {
      body: form(['big.bin', new Uint8Array(3_000_000), 'application/zip']),
    });
    expect(answer.body).toBe(
      '[{"type":"large_object","fileName":"big.bin","contentType":"application/zip","size":3000000,"success":false,"status":"InvalidMimeType","oid":null}]',
    );
  });
});
