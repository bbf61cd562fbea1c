import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { headingAnchor } from '../anchors.ts';
import { addContentSecurityPolicy, CodeStyles } from '../content-security-policy.ts';
import { preparePages } from '../pages.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const pages = path('../.pages');
const styles = new CodeStyles();

type Rule =
  | ((tokens: readonly { readonly content: string }[], index: number, ...rest: unknown[]) => string)
  | undefined;

interface Markdown {
  readonly renderer: {
    readonly rules: Record<string, Rule>;
    renderToken(tokens: unknown, index: number, options: unknown): string;
  };
}

/** Escapes braces in text and code: Vue would evaluate `{{claims.email}}`, which the pages show. */
function escapeBraces({ renderer: { rules } }: Markdown): void {
  for (const name of ['text', 'code_inline']) {
    const rule = rules[name];
    rules[name] = (...input) => (rule?.(...input) ?? '').replaceAll('{{', '&#123;&#123;');
  }
}

/** The first column of a table may have no heading: assistive programs would announce an empty one. */
function replaceEmptyHeadings({ renderer }: Markdown): void {
  for (const [name, offset] of [
    ['th_open', 1],
    ['th_close', -1],
  ] as const) {
    renderer.rules[name] = (tokens, index, options) => {
      const html = renderer.renderToken(tokens, index, options);
      return tokens[index + offset]!.content === '' ? html.replace('th', 'td') : html;
    };
  }
}

/** Code that is indented looks like code between fences. */
function renderIndentedCode({ renderer: { rules } }: Markdown): void {
  rules['code_block'] = (...input) => rules['fence']!(...input);
}

/** Removes the role of a button from the arrow of a group: the whole heading is a button, and screen readers skip buttons inside of one. */
function withoutNestedButtons(html: string): string {
  return html.replaceAll(/(<div class="caret") role="button" aria-label="[^"]*" tabindex="0"/g, '$1');
}

/** Options of VitePress. `SITE_OUTPUT` and `SITE_BASE` set folder and path; `SITE_REPOSITORY` the address of the repository. */
export default {
  title: 'pgway',
  description: 'A gateway that turns a PostgreSQL database into an HTTP API',
  base: process.env['SITE_BASE'] ?? '/',
  srcDir: pages,
  outDir: process.env['SITE_OUTPUT'] ?? path('../dist'),
  // Addresses of a server that the reader has started.
  ignoreDeadLinks: 'localhostLinks',
  cacheDir: path('../node_modules/.vitepress'),
  // No style element that a content security policy would refuse.
  appearance: { disableTransition: false },
  markdown: {
    anchor: { slugify: headingAnchor },
    // The default themes have less contrast than WCAG 2.2 asks for.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    codeTransformers: [styles.transformer],
    config: (markdown: Markdown): void => {
      escapeBraces(markdown);
      replaceEmptyHeadings(markdown);
      renderIndentedCode(markdown);
    },
  },
  themeConfig: {
    // Without a label of its own, the button is read as it is shown.
    search: { provider: 'local', options: { translations: { button: { buttonAriaLabel: '' } } } },
    outline: { level: [2, 3] },
    sidebar: preparePages({ root: path('../..'), target: pages, repository: process.env['SITE_REPOSITORY'] ?? null }),
  },
  head: [
    ['link', { rel: 'stylesheet', href: `${process.env['SITE_BASE'] ?? '/'}site.css` }],
    // Without it, browsers request /favicon.ico.
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  transformHtml: (html: string): string => addContentSecurityPolicy(withoutNestedButtons(html)),
  buildEnd: ({ outDir }: { readonly outDir: string }): void => {
    copyFileSync(path('../layout.css'), `${outDir}/site.css`);
    styles.appendTo(`${outDir}/site.css`);
  },
};
