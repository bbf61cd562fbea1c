import { Problem } from '@pgway/core';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { type Row, WorkbookReader, WorksheetReader } from '@cj-tech-master/excelts';

import type { WorkbookArchive } from './archive.ts';
import { MalformedWorkbook, type WorkbookUsage } from './limits.ts';
import { decodeText } from './opaque-text.ts';
import { relationshipRules, SheetRules, sharedStringRules, styleRules, workbookRules } from './part-rules.ts';
import { type ElementRule, XmlFilter } from './xml-filter.ts';

/** A value as the reader returns it; null: an error such as `#N/A`. */
export type CellValue = string | number | boolean | Date | null;

export interface SheetRow {
  /** From 1. */
  readonly number: number;
  /** The cells that have a value, by column from 1. */
  readonly cells: ReadonlyMap<number, CellValue>;
}

export interface Sheet {
  readonly name: string;
  readonly part: string;
}

interface Relationship {
  readonly Id: string;
  readonly Type?: string;
  readonly Target: string;
  readonly TargetMode?: string;
}

/**
 * The readers of single parts, which the reader of a whole file calls. That one reads entries in the order of the archive, with neither
 * limits nor checks.
 */
interface PartReader {
  readonly workbookRels?: readonly Relationship[];
  readonly model?: { readonly sheets?: readonly { readonly name: string; readonly rId: string }[] };
  readonly sharedStrings?: readonly string[];
  readonly properties?: { readonly model?: { readonly date1904?: boolean } };
  _parseRels(part: Readable): Promise<void>;
  _parseWorkbook(part: Readable): Promise<void>;
  _parseStyles(part: Readable): Promise<void>;
  _parseSharedStrings(part: Readable): AsyncIterable<unknown>;
}

/** The styles of a workbook without this optional part: its dates are numbers. The reader needs one style. */
const defaultStyles = '<styleSheet><cellXfs count="1"><xf numFmtId="0"/></cellXfs></styleSheet>';

const readerOptions = { worksheets: 'emit', sharedStrings: 'cache', styles: 'cache', hyperlinks: 'ignore' } as const;

/** The sheets of a workbook. Its shared texts are in memory; rows are read one after the other. */
export class Workbook {
  readonly sheets: readonly Sheet[];
  readonly #archive: WorkbookArchive;
  readonly #usage: WorkbookUsage;
  readonly #reader: PartReader;

  private constructor(archive: WorkbookArchive, usage: WorkbookUsage, reader: PartReader, sheets: readonly Sheet[]) {
    this.#archive = archive;
    this.#usage = usage;
    this.#reader = reader;
    this.sheets = sheets;
  }

  /**
   * Reads all parts but the sheets.
   * @throws MalformedWorkbook if the archive is not a workbook, Problem past a limit
   */
  static async open(archive: WorkbookArchive, usage: WorkbookUsage): Promise<Workbook> {
    try {
      return await Workbook.#open(archive, usage);
    } catch (error) {
      throw asMalformed(error);
    }
  }

  static async #open(archive: WorkbookArchive, usage: WorkbookUsage): Promise<Workbook> {
    const reader = new WorkbookReader(Readable.from([]), readerOptions) as unknown as PartReader;
    const part = (name: string, rules: ElementRule): Readable => Readable.from(filterPart(archive.read(name), rules));

    await reader._parseRels(part('_rels/.rels', relationshipRules));
    const path = targetOf(reader, '', 'officeDocument');
    if (path === undefined) throw new MalformedWorkbook('has no workbook');
    await reader._parseWorkbook(part(path, workbookRules(usage)));

    const folder = posix.dirname(path);
    await reader._parseRels(part(posix.join(folder, '_rels', `${posix.basename(path)}.rels`), relationshipRules));
    const styles = targetOf(reader, folder, 'styles');
    const hasStyles = styles !== undefined && archive.has(styles);
    await reader._parseStyles(hasStyles ? part(styles, styleRules) : Readable.from([defaultStyles]));
    const strings = targetOf(reader, folder, 'sharedStrings');
    if (strings !== undefined) {
      const counted = count(archive.read(strings), usage);
      for await (const _ of reader._parseSharedStrings(Readable.from(filterPart(counted, sharedStringRules))));
    }
    return new Workbook(archive, usage, reader, listSheets(reader, folder, archive));
  }

  /**
   * Reads the rows of a sheet that have a value.
   * @throws MalformedWorkbook with the row, Problem past a limit
   */
  async *rows({ part }: Sheet): AsyncIterable<SheetRow> {
    const rules = new SheetRules(this.#usage, this.#reader.sharedStrings ?? []);
    const iterator = filterPart(this.#archive.read(part), rules.rules);
    const reader = new WorksheetReader({ workbook: this.#reader, id: 1, iterator, options: readerOptions });
    const date1904 = this.#reader.properties?.model?.date1904 === true;
    try {
      for await (const row of reader) {
        const cells = readCells(row, date1904);
        if (cells.size > 0) yield { number: row.number, cells };
      }
    } catch (error) {
      throw asMalformed(error);
    }
  }
}

/** Errors of the reader have no class of their own. Those of limits and of the file system are none of the file's. */
function asMalformed(error: unknown): unknown {
  const isKnown = error instanceof MalformedWorkbook || error instanceof Problem;
  if (isKnown || (error as NodeJS.ErrnoException).syscall !== undefined) return error;
  return new MalformedWorkbook('cannot be read', { cause: error });
}

function readCells(row: Row, date1904: boolean): ReadonlyMap<number, CellValue> {
  const cells = new Map<number, CellValue>();
  row.eachCell(({ value }, column) => {
    if (value !== null && value !== undefined && value !== '') cells.set(column, readValue(value, date1904));
  });
  return cells;
}

async function* filterPart(part: AsyncIterable<Uint8Array>, rules: ElementRule): AsyncIterable<string> {
  const filter = new XmlFilter(rules);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new MalformedWorkbook('has text that is not UTF-8', { cause });
    }
  };
  for await (const chunk of part) yield filter.write(decode(chunk));
  yield filter.write(decode()) + filter.end();
}

async function* count(part: AsyncIterable<Uint8Array>, usage: WorkbookUsage): AsyncIterable<Uint8Array> {
  for await (const chunk of part) {
    usage.add('maxSharedStringsSize', chunk.length);
    yield chunk;
  }
}

/** Types end alike in both namespaces of the format, the transitional and the strict one. */
function hasType({ Type = '', TargetMode }: Relationship, type: string): boolean {
  return Type.endsWith(`/relationships/${type}`) && TargetMode !== 'External';
}

function targetOf({ workbookRels = [] }: PartReader, folder: string, type: string): string | undefined {
  const found = workbookRels.find((relationship) => hasType(relationship, type));
  return found === undefined ? undefined : resolvePart(folder, found.Target);
}

/** Charts have sheets of their own, which have no cells. */
function listSheets({ model, workbookRels = [] }: PartReader, folder: string, archive: WorkbookArchive): Sheet[] {
  const sheets: Sheet[] = [];
  for (const { name, rId } of model?.sheets ?? []) {
    const relationship = workbookRels.find(({ Id }) => Id === rId);
    if (relationship === undefined) throw new MalformedWorkbook(`has no part for the sheet ${JSON.stringify(name)}`);
    if (!hasType(relationship, 'worksheet')) continue;
    const part = resolvePart(folder, relationship.Target);
    if (!archive.has(part)) throw new MalformedWorkbook(`has no part for the sheet ${JSON.stringify(name)}`);
    sheets.push({ name, part });
  }
  if (sheets.length === 0) throw new MalformedWorkbook('has no sheet');
  return sheets;
}

function resolvePart(folder: string, target: string): string {
  return posix.resolve('/', folder, target).slice(1);
}

const day = 24 * 60 * 60 * 1000;

function readValue(value: unknown, date1904: boolean): CellValue {
  if (value instanceof Date) return correctDate(value, date1904);
  if (typeof value === 'string') return decodeText(value);
  return typeof value === 'object' ? null : (value as number | boolean);
}

/** Excel has a 29 February 1900, which did not exist: the days before it are counted from 31 December 1899. */
function correctDate(date: Date, date1904: boolean): Date | null {
  if (Number.isNaN(date.getTime())) return null;
  const serial = (date.getTime() - Date.UTC(1899, 11, 30)) / day;
  return !date1904 && serial >= 1 && serial < 60 ? new Date(date.getTime() + day) : date;
}
