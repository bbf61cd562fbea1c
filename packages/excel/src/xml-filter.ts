import { type SaxesTagPlain, SaxesParser } from 'saxes';
import { MalformedWorkbook, tooLarge } from './limits.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

/** An element that passes a filter. */
export interface ElementRule {
  /** Attributes that pass, by their names without a prefix. */
  readonly attributes?: readonly string[];
  /** Elements inside that pass, by their names without a prefix. Others are dropped with all that is in them. */
  readonly children?: Readonly<Record<string, ElementRule>>;
  /** The maximum number of elements of the rule in a part. */
  readonly maxCount?: number;
  /** Checks the attributes, and returns those that pass. */
  readonly open?: (attributes: XmlAttributes) => XmlAttributes;
  /** Returns what passes of all text in the element. Without it, no text passes. An element with it passes no other. */
  readonly text?: (text: string) => string;
  /** The tags of the element do not pass; what is inside does. */
  readonly isTransparent?: true;
  /** An element that is put around all that is inside. */
  readonly inner?: string;
}

const maxDepth = 64;
/** Characters without a tag, beyond which XML is not a part of a workbook: a cell has at most 32,767. */
const maxTextLength = 1024 * 1024;

/**
 * Checks XML strictly, and passes on only the elements and attributes that rules name, without namespace prefixes. Document type
 * declarations, and so entities other than those of XML, are refused.
 */
export class XmlFilter {
  readonly #parser = new SaxesParser();
  readonly #rules: ElementRule[];
  readonly #root: ElementRule;
  readonly #counts = new Map<ElementRule, number>();
  #output = '';
  #dropped = 0;
  #textLength = 0;
  /** The text of the innermost element so far: a comment, a CDATA section or a dropped element can be between its parts. */
  #text = '';

  constructor(root: ElementRule) {
    this.#root = root;
    this.#rules = [root];
    this.#parser.on('doctype', () => {
      throw new MalformedWorkbook('has a document type declaration');
    });
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('closetag', (tag) => this.#close(localName(tag.name)));
    this.#parser.on('text', (text) => this.#addText(text));
    this.#parser.on('cdata', (text) => this.#addText(text));
  }

  /**
   * Returns what passes of the next piece.
   * @throws MalformedWorkbook if the XML is not well-formed, and the errors of the rules
   */
  write(piece: string): string {
    this.#textLength += piece.length;
    this.#parse(() => this.#parser.write(piece));
    if (this.#textLength > maxTextLength + piece.length) throw new MalformedWorkbook('has a text that is too long');
    return this.#take();
  }

  /** @throws as `write` */
  end(): string {
    this.#parse(() => this.#parser.close());
    return this.#take();
  }

  #take(): string {
    const output = this.#output;
    this.#output = '';
    return output;
  }

  /** Errors of the parser have no class of their own: those of rules are kept. */
  #parse(parse: () => unknown): void {
    try {
      parse();
    } catch (error) {
      if (error instanceof Error && error.constructor !== Error) throw error;
      throw new MalformedWorkbook('has XML that is not well-formed', { cause: error });
    }
  }

  #open(tag: SaxesTagPlain): void {
    this.#textLength = 0;
    if (this.#dropped > 0) {
      this.#drop();
      return;
    }
    const name = localName(tag.name);
    const parent = this.#rules.at(-1)!;
    const children = parent.children ?? {};
    const rule = Object.hasOwn(children, name) ? children[name]! : null;
    if (rule === null) {
      if (parent === this.#root)
        throw new MalformedWorkbook(`has an element ${name.slice(0, 40)} where a part of a workbook begins`);
      this.#drop();
      return;
    }
    this.#count(rule, name);
    this.#rules.push(rule);
    const attributes = passAttributes(tag.attributes, rule);
    if (rule.isTransparent === true) return;
    let tagText = `<${name}`;
    for (const key of rule.attributes ?? []) {
      const value = attributes[key];
      if (value !== undefined) tagText += ` ${key}="${escapeXml(value)}"`;
    }
    this.#output += rule.inner === undefined ? `${tagText}>` : `${tagText}><${rule.inner}>`;
  }

  #count(rule: ElementRule, name: string): void {
    const { maxCount } = rule;
    if (maxCount === undefined) return;
    const count = (this.#counts.get(rule) ?? 0) + 1;
    if (count > maxCount) throw tooLarge(`more than ${maxCount} elements ${name}`);
    this.#counts.set(rule, count);
  }

  #drop(): void {
    if (++this.#dropped > maxDepth) throw new MalformedWorkbook('has elements that are nested too deeply');
  }

  #close(name: string): void {
    this.#textLength = 0;
    if (this.#dropped > 0) {
      this.#dropped--;
      return;
    }
    const { isTransparent, inner, text } = this.#rules.pop()!;
    if (text !== undefined && this.#text !== '') this.#output += escapeXml(text(this.#text));
    this.#text = '';
    if (isTransparent === true) return;
    this.#output += `${inner === undefined ? '' : `</${inner}>`}</${name}>`;
  }

  #addText(text: string): void {
    this.#textLength = 0;
    if (this.#dropped > 0 || this.#rules.at(-1)!.text === undefined) return;
    this.#text += text;
    if (this.#text.length > maxTextLength) throw new MalformedWorkbook('has a text that is too long');
  }
}

function passAttributes(attributes: XmlAttributes, { attributes: names = [], open }: ElementRule): XmlAttributes {
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = attributes[name] ?? (name === 'r:id' ? findPrefixedId(attributes) : undefined);
    if (value !== undefined) passed[name] = value;
  }
  return open?.(passed) ?? passed;
}

/** The id of a relationship is the only attribute with a prefix that is read, and its prefix can be any. */
function findPrefixedId(attributes: XmlAttributes): string | undefined {
  return Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return /[&<>"]/.test(text) ? text.replace(/[&<>"]/g, (character) => escapes[character]!) : text;
}
