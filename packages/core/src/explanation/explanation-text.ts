/** The text of an explanation of an endpoint: a table of label, value and reason. */
import type { LineExplanation } from '../endpoints/comment/comment-trace.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { ValueExplanation } from '../endpoints/explain-values.ts';
import type { EndpointExplanation } from '../endpoints/explanation.ts';
import { displayWidth, padToWidth, truncate, wrap } from '../terminal/terminal.ts';
import { escapeControlCharacters } from '../validation/escape.ts';

interface Row {
  readonly label: string;
  readonly value: string;
  readonly reasons: readonly string[];
}

const indent = '  ';
const gap = '  ';
/** Wider values do not widen the column. */
const maxValueColumns = 48;
const minReasonColumns = 24;

/**
 * Returns the lines of one explanation: its route or its routine, then a row per value and per line of the comment.
 * @param columns infinite when the output is not a terminal
 */
export function explanationLines(explanation: EndpointExplanation, columns: number): readonly string[] {
  const { endpoint, routine, diagnostics } = explanation;
  const title = endpoint === null ? `${routine}: no endpoint` : `${endpoint.method} ${endpoint.path}`;
  const rows = [
    { label: endpoint === null ? 'reason' : 'routine', ...firstRow(explanation) },
    ...explanation.values.filter(isShown).map(valueRow),
    ...explanation.lines.filter(({ kind }) => kind !== 'blank').map((line) => lineRow(line, diagnostics)),
  ];
  const general = diagnostics.filter(({ line }) => line === null).map(problemText);
  return [
    escapeControlCharacters(title),
    ...tableLines(rows, columns),
    ...general.flatMap((text) => paragraph(text, columns)),
  ];
}

function firstRow({ endpoint, routine, source, reason }: EndpointExplanation): Omit<Row, 'label'> {
  if (endpoint === null) return { value: reason, reasons: [] };
  const origin = source === 'functions' ? '' : `, from the source ${source}`;
  return { value: routine, reasons: [`published by ${reason}${origin}`] };
}

const mainValues: ReadonlySet<string> = new Set(['method', 'path', 'parameterSource', 'authorization']);

/** The main values are always shown, others when they are not the default. */
function isShown({ name, origin }: ValueExplanation): boolean {
  return mainValues.has(name) || origin !== 'default';
}

const labels: Readonly<Record<string, string>> = { parameterSource: 'parameters' };

function valueRow({ name, value, origin, line, reason }: ValueExplanation): Row {
  return { label: labels[name] ?? name, value, reasons: [originText(origin, line, reason)] };
}

function originText(origin: ValueExplanation['origin'], line: number | null, reason: string): string {
  if (origin === 'option') return `option ${reason}`;
  return line === null ? reason : `line ${line}: ${reason}`;
}

function lineRow(explanation: LineExplanation, diagnostics: readonly Diagnostic[]): Row {
  const problems = diagnostics.filter(({ line }) => line === explanation.line).map(problemText);
  const reading = readingText(explanation, problems.length > 0);
  return {
    label: `line ${explanation.line}`,
    value: explanation.text,
    reasons: [...(reading === null ? [] : [reading]), ...problems],
  };
}

/** Returns how a line was read; null when its problems say so. */
function readingText({ kind, text, annotation, effects, scope }: LineExplanation, hasProblem: boolean): string | null {
  if (kind === 'prose') return hasProblem ? null : 'description';
  if (kind === 'skipped') return `skipped: the lines after line ${scope} do not apply to this endpoint`;
  const name = annotation === null || isWritten(annotation, text) ? '' : `${annotation}: `;
  if (effects.length > 0) return `${name}${effects.join('; ')}`;
  return hasProblem ? null : `${name}no effect on this endpoint`;
}

/** Whether the line begins with this name of the annotation, and not with a synonym. */
function isWritten(annotation: string, text: string): boolean {
  return text.replace(/^@\s*/, '').toLowerCase().replaceAll('-', '_').startsWith(annotation);
}

function problemText({ severity, message }: Diagnostic): string {
  return `${severity}: ${message}`;
}

function tableLines(rows: readonly Row[], columns: number): readonly string[] {
  const escaped = rows.map(({ label, value, reasons }) => ({
    label,
    value: escapeControlCharacters(value),
    reasons: reasons.map(escapeControlCharacters),
  }));
  const labelColumns = Math.max(...escaped.map(({ label }) => label.length));
  const available = columns - indent.length - labelColumns - 2 * gap.length;
  const values = escaped.filter(({ reasons }) => reasons.length > 0).map(({ value }) => displayWidth(value));
  const valueColumns = Math.min(Math.max(...values, 0), maxValueColumns, Math.max(12, Math.floor(available / 2)));
  return escaped.flatMap(({ label, value, reasons }) => {
    const start = `${indent}${label.padEnd(labelColumns)}${gap}`;
    if (reasons.length === 0) return wrapAfter(start, value, columns);
    const cell = columns === Number.POSITIVE_INFINITY ? value : truncate(value, valueColumns);
    const [first = '', ...more] = reasons;
    const left = `${start}${padToWidth(cell, valueColumns)}${gap}`;
    const below = ' '.repeat(indent.length + labelColumns + gap.length + valueColumns + gap.length);
    return [
      ...wrapAfter(left, first, columns, below.length),
      ...more.flatMap((text) => wrapAfter(below, text, columns)),
    ];
  });
}

/** Wraps the text beside its start, and continues it at the same column. */
function wrapAfter(
  start: string,
  text: string,
  columns: number,
  offset: number = displayWidth(start),
): readonly string[] {
  const width = Math.max(minReasonColumns, columns - offset);
  return wrap(text, width).map((line, index) => `${index === 0 ? start : ' '.repeat(offset)}${line}`.trimEnd());
}

function paragraph(text: string, columns: number): readonly string[] {
  return wrapAfter(indent, escapeControlCharacters(text), columns);
}
