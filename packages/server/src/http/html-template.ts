/** HTML files with placeholders: `{{user_name}}`, `{{claims.email}}`, `{{antiforgery}}`. */
import { readFile } from 'node:fs/promises';
import type { StaticFile } from './static-folders.ts';

/** Texts and, between them, names of placeholders. */
export interface Template {
  /** One more than there are names. */
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** A name has no braces, quotes or spaces: other uses of `{{` stay as they are. */
const placeholder = /\{\{ ?([A-Za-z_][\w.:/@-]{0,199}) ?\}\}/;

export function parseTemplate(text: string): Template {
  const parts = text.split(placeholder);
  return {
    texts: parts.filter((_, index) => index % 2 === 0),
    names: parts.filter((_, index) => index % 2 === 1),
  };
}

/** Inserts the values, escaped. They are never parsed as a template again. */
export function renderTemplate({ texts, names }: Template, valueOf: (name: string) => string): string {
  return texts.map((text, index) => (index === 0 ? text : escapeHtml(valueOf(names[index - 1]!)) + text)).join('');
}

/**
 * Escapes text for HTML, in elements and attribute values. As character references, spaces cannot end an attribute value without quotes
 * (OWASP, Cross Site Scripting Prevention, rule 2).
 */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[\0-,/:-@[-^`{-\x9f]/g, (character) =>
    isInvalid(character) ? '\uFFFD' : `&#${character.charCodeAt(0)};`,
  );
}

/** Control characters that HTML has no reference for. */
function isInvalid(character: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(character);
}

interface CachedTemplate {
  readonly mtimeMs: number;
  readonly size: number;
  readonly template: Template;
}

/** Limits of the cache: files, and bytes of one. */
const maxTemplates = 500;
const maxCachedBytes = 1_048_576;

/** Parsed templates. A file is read again when its time or size has changed. */
export class TemplateCache {
  readonly #templates = new Map<string, CachedTemplate>();

  async read({ realPath, stats: { mtimeMs, size } }: Pick<StaticFile, 'realPath' | 'stats'>): Promise<Template> {
    const cached = this.#templates.get(realPath);
    if (cached?.mtimeMs === mtimeMs && cached.size === size) return cached.template;
    const template = parseTemplate(await readFile(realPath, 'utf8'));
    this.#templates.delete(realPath);
    const [oldest] = this.#templates.keys();
    if (this.#templates.size >= maxTemplates) this.#templates.delete(oldest!);
    if (size <= maxCachedBytes) this.#templates.set(realPath, { mtimeMs, size, template });
    return template;
  }
}
