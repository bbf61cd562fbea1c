/** `pgscout --advise [name;…]`: what is insecure or slow in a schema that is served. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { type DatabaseObject, objectLine, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { findingsCode } from '../command/options.ts';
import type { Connection } from '../connection/connection.ts';
import { parseKinds } from '../ddl/parse-kinds.ts';
import { selectObjects, splitNames } from '../ddl/select-objects.ts';
import { visibleSql } from '../ddl/sql-text.ts';
import { readExplanations } from '../endpoints/read-explanations.ts';
import { printJson } from '../output/print-json.ts';
import { CommandError } from '../process/errors.ts';
import { callerRoles, type Facts } from './facts.ts';
import type { Finding } from './finding.ts';
import { type Ignore, namesFinding, parseIgnore } from './ignores.ts';
import { statisticsAge } from './index-rules.ts';
import { withPolicyStatements } from './policy-statements.ts';
import { readFacts } from './read-facts.ts';
import { readScans } from './read-scans.ts';
import { rules } from './rules.ts';

interface CodedFinding extends Finding {
  readonly code: string;
}

/** Prints the findings as a script of comments and statements, which is never run. */
export async function runAdvise(context: CommandContext): Promise<number> {
  const { process, options } = context;
  const ignores = await readIgnores(context);
  const kinds = parseKinds(options.get('kinds'));
  const { facts, objects, notes } = await context.withConnection((connection) => readSchema(context, connection));
  const found = rules.flatMap(({ code, find }) => find(facts).map((finding) => ({ code, ...finding })));
  checkNames(context.operands, objects, found);
  const selected = selectFindings(found, context, kinds);
  const kept = selected.filter((finding) => !ignores.some(({ matches }) => matches(finding.code, finding)));
  const shown = withPolicyStatements(kept, facts);
  const unused = ignores.filter(({ matches }) => !found.some((finding) => matches(finding.code, finding)));
  for (const note of [...notes, ...unused.map(({ text }) => `${JSON.stringify(text)} ignores no finding`)])
    process.stderr.write(`note: ${escapeControlCharacters(note)}\n`);
  if (options.has('json')) printJson(process, shown.map(toJson));
  else process.stdout.write(shown.map(findingText).join('\n'));
  process.stderr.write(`${countText(shown.length)}${ignoredText(selected.length - shown.length)}\n`);
  return options.has('exit-code') && shown.length > 0 ? findingsCode : 0;
}

interface SchemaFacts {
  readonly facts: Facts;
  readonly objects: readonly DatabaseObject[];
  /** What was not examined, and probable mistakes in the settings. */
  readonly notes: readonly string[];
}

/** Reads the facts, and what could not be examined. */
async function readSchema(context: CommandContext, connection: Connection): Promise<SchemaFacts> {
  const { process, progress, options } = context;
  const { explanations, warnings } = await readExplanations({
    process,
    progress,
    withConnection: (use) => use(connection),
  });
  const endpoints = explanations.flatMap(({ endpoint }) => (endpoint === null ? [] : [endpoint]));
  const roles = splitNames([options.get('role') ?? '']);
  const { client } = connection;
  return inSnapshot(client, async () => {
    const catalog = await readFacts(client, { endpoints, roles }, progress);
    checkRoles(catalog, roles);
    const { scans, notes } = await readScans(client, catalog, progress);
    const facts = { ...catalog, scans };
    return {
      facts,
      objects: await readObjects(client, progress),
      notes: [...warnings, ...generalNotes(facts), ...notes],
    };
  });
}

/** @throws CommandError for a role that the server does not have */
function checkRoles(facts: Pick<Facts, 'roles'>, names: readonly string[]): void {
  const known = new Set(callerRoles(facts).map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new CommandError(`--role: the server has no role ${JSON.stringify(unknown)}`);
}

function generalNotes(facts: Facts): readonly string[] {
  const { server, served, scans } = facts;
  const superuser = callerRoles(facts).find(({ isSuperuser }) => isSuperuser);
  const { statisticsDays } = server;
  return [
    ...(served.relations.size === 0 && served.routines.size === 0
      ? ['no endpoint serves an object of this database']
      : []),
    ...(superuser === undefined
      ? []
      : [
          `privileges and policies of calls are not examined for the superuser ${superuser.sqlName}; name the role of the gateway with --role`,
        ]),
    ...(statisticsDays !== null && statisticsDays >= statisticsAge
      ? []
      : [`unused indexes are not listed: the statistics are not ${statisticsAge} days old`]),
    ...(scans.every(({ columns }) => columns.length === 0) || server.hypopgSchema !== null
      ? []
      : ['the proposed indexes were not tried: the extension hypopg is not installed']),
  ];
}

/** @throws UsageError for an unknown code */
async function readIgnores({ options, settings }: CommandContext): Promise<readonly Ignore[]> {
  const codes = rules.map(({ code }) => code);
  const own = splitNames([options.get('ignore') ?? '']).map((text) => parseIgnore(text, codes, '--ignore'));
  const { adviseIgnore } = await settings();
  return [...own, ...Object.keys(adviseIgnore).map((text) => parseIgnore(text, codes, 'pgscout.json: AdviseIgnore'))];
}

function selectFindings(
  findings: readonly CodedFinding[],
  { operands, options }: CommandContext,
  kinds: ReturnType<typeof parseKinds>,
): readonly CodedFinding[] {
  const names = splitNames(operands).map(namesFinding);
  const excludes = splitNames([options.get('exclude') ?? '']).map(namesFinding);
  return findings.filter((finding) => {
    const { kind, owner } = finding.object;
    const isKind = kinds === null || [kind, owner?.kind].some((own) => own !== undefined && kinds.has(own));
    const isNamed = names.length === 0 || names.some((matches) => matches(finding));
    return isKind && isNamed && !excludes.some((matches) => matches(finding));
  });
}

/** @throws CommandError for names that neither an object nor an index, constraint or column with a finding has */
function checkNames(
  texts: readonly string[],
  objects: readonly DatabaseObject[],
  findings: readonly CodedFinding[],
): void {
  const names = splitNames(texts).filter((name) => !findings.some(namesFinding(name)));
  const { missing } = selectObjects(objects, names);
  if (missing.length > 0) throw new CommandError(missing.join('\n'));
}

function findingText({ code, object, reason, statements }: CodedFinding): string {
  const lines = [`-- ${code}: ${objectLine(object)}`, `-- ${reason}`].map(escapeControlCharacters);
  return `${[...lines, ...statements.map((sql) => `${visibleSql(sql)};`)].join('\n')}\n`;
}

function toJson({ code, object, reason, statements }: CodedFinding): Readonly<Record<string, unknown>> {
  const { kind, schema, table, name, qualifiedName } = object;
  return { code, kind, schema, table, name, qualifiedName, reason, statements: statements.map(visibleSql) };
}

function countText(count: number): string {
  return count === 0 ? 'no findings' : `${count} ${count === 1 ? 'finding' : 'findings'}`;
}

function ignoredText(count: number): string {
  return count === 0 ? '' : `, ${count} ignored`;
}
