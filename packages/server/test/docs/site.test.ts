import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addContentSecurityPolicy } from '../../../../site/content-security-policy.ts';
import { preparePages, type SidebarGroup } from '../../../../site/pages.ts';
import { folderWith } from '../support/folder.ts';

/** Prepares the pages of a checkout with these files. */
async function prepare(
  files: Readonly<Record<string, string>>,
  repository: string | null = null,
): Promise<{ readonly sidebar: readonly SidebarGroup[]; readonly read: (route: string) => Promise<string> }> {
  const root = await folderWith(files);
  const target = join(root, 'pages');
  const sidebar = preparePages({ root, target, repository });
  return { sidebar, read: (route) => readFile(join(target, extname(route) === '' ? `${route}.md` : route), 'utf8') };
}

const files = {
  'README.md':
    '# Shop\n\n## Documentation\n\n### Operate\n* [TLS](docs/guide/tls.md#renewal)\n### Rows\n* [Tables](docs/guide/tables.md)\n* [decisions](decisions)\n',
  'docs/guide/other.md': '# Other\n',
  'docs/guide/tables.md':
    '# Tables\n\n<!-- sql\ncreate table t ();\n-->\n\n```sql\n<!-- stays -->\n```\n[Up](../../README.md)\n',
  'docs/guide/tls.md':
    '# `TLS`\n\n## Renewal\n\n[here](#renewal), [proxy](../../deploy/haproxy.cfg), [out](https://example.org)\n',
  'decisions/001-first.md': '# 001 First\n',
  'deploy/haproxy.cfg': 'listen 80\n',
};

describe('the pages of the site', () => {
  test('links lead to pages of the site, and comments are left out', async () => {
    const { read, sidebar } = await prepare(files);
    expect(await read('index')).toBe(
      '# Shop\n\n## Documentation\n\n### Operate\n* [TLS](/guide/tls#renewal)\n### Rows\n* [Tables](/guide/tables)\n* [decisions](/decisions/001-first)\n',
    );
    expect(await read('guide/tables')).toBe('# Tables\n\n\n```sql\n<!-- stays -->\n```\n[Up](/index)\n');
    expect(await read('guide/tls')).toContain(
      '[here](/guide/tls#renewal), [proxy](/project/files#deployhaproxycfg), [out](https://example.org)',
    );
    expect(await read('project/files')).toContain('## deploy/haproxy.cfg\n\n````text\nlisten 80\n````');
    expect(sidebar.slice(0, 3)).toEqual([
      { text: 'Operate', collapsed: false, items: [{ text: 'TLS', link: '/guide/tls' }] },
      { text: 'Rows', collapsed: true, items: [{ text: 'Tables', link: '/guide/tables' }] },
      { text: 'More', collapsed: true, items: [{ text: 'Other', link: '/guide/other' }] },
    ]);
  });

  test('with the address of the repository, other files are links to it', async () => {
    const { read } = await prepare(files, 'https://example.org/shop');
    expect(await read('guide/tls')).toContain('[proxy](https://example.org/shop/blob/main/deploy/haproxy.cfg)');
  });

  test('an image is beside its page', async () => {
    const { read } = await prepare({
      ...files,
      'bench/README.md': '# Bench\n\n![Rows](charts/rows.svg)\n',
      'bench/charts/rows.svg': '<svg/>',
    });
    expect(await read('project/benchmark')).toContain('![Rows](charts/rows.svg)');
    expect(await read('project/charts/rows.svg')).toBe('<svg/>');
  });

  test('links without a file or heading are an error with their places', async () => {
    const broken = {
      ...files,
      'docs/guide/more.md': '# More\n\n[a](none.md)\n[b](tls.md#none), [c](#none)\n[d](tls.md)\n\n![e](none.svg)\n',
    };
    await expect(prepare(broken)).rejects.toThrow(
      'links lead nowhere:\ndocs/guide/more.md:3: none.md\ndocs/guide/more.md:4: tls.md#none\ndocs/guide/more.md:4: #none\ndocs/guide/more.md:7: none.svg',
    );
  });
});

test('the content security policy allows the inline scripts of the page, and no styles', () => {
  const html =
    '<html><head></head><body><p style="color:red">a style="b"</p><script>go()</script><script src="/a.js"></script>';
  expect(addContentSecurityPolicy(html)).toBe(
    `<html><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"></head><body><p>a style="b"</p><script>go()</script><script src="/a.js"></script>`,
  );
});
