import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';

/**
 * Adds a content security policy to a page: everything comes from the site, and inline scripts are those that the build wrote.
 * A server may send the same policy as a header.
 */
export function addContentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text]) =>
    hash(text!),
  );
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(scripts)].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // The script of the page sets the same styles.
  const withoutStyles = html.replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1');
  return withoutStyles.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
}

function hash(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

/** A node of the highlighted code. */
interface CodeNode {
  properties: Record<string, unknown>;
}

/** Gives highlighted code classes in place of style attributes, which the policy refuses. */
export class CodeStyles {
  readonly #classes = new Map<string, string>();

  /** For the highlighter (Shiki). */
  readonly transformer = {
    name: 'pgway:code-styles',
    span: (node: CodeNode): void => this.#replaceStyle(node),
    pre: (node: CodeNode): void => this.#replaceStyle(node),
  };

  #replaceStyle({ properties }: CodeNode): void {
    const { style, class: other } = properties;
    if (typeof style !== 'string') return;
    const name = this.#classes.get(style) ?? `code-${this.#classes.size + 1}`;
    this.#classes.set(style, name);
    delete properties['style'];
    properties['class'] = typeof other === 'string' ? `${other} ${name}` : name;
  }

  /** Appends the rules of all classes to a style sheet of the site. */
  appendTo(file: string): void {
    appendFileSync(file, [...this.#classes].map(([style, name]) => `.vp-doc .${name}{${style}}`).join('\n'));
  }
}
