import { contenderTitles } from '../contenders/contender.ts';
import type { BenchOptions } from '../options.ts';
import { rivalOf } from '../rivals.ts';
import type { StreamResult } from '../stream.ts';
import type { Suite } from '../suite.ts';
import type { Bar, BarChart } from './bar-chart.ts';
import { describeCompetitor } from './competitor-label.ts';
import type { Headline } from './section.ts';
import type { Summary } from './summary.ts';
import { formatMebibytes, formatNumber, formatRatio, formatTable } from './table.ts';

export interface SuiteReport {
  readonly suite: Suite;
  readonly options: Pick<BenchOptions, 'rounds' | 'seconds' | 'pool' | 'genericPlans'>;
  readonly postgres: string;
  readonly loadTool: string;
  readonly summaries: readonly Summary[];
  readonly stream: StreamResult | null;
  /** Measurements that could not run, with the reason. */
  readonly missing: readonly string[];
}

const memoryAllowance: number = 64 * 2 ** 20;

/** Returns the report as Markdown, without a heading. */
export function writeSuiteReport(report: SuiteReport): string {
  const { options, postgres, loadTool } = report;
  const connections = [...new Set(report.summaries.map((summary) => summary.connections))];
  const plans = options.genericPlans ? '; generic plans for all' : '';
  return [
    `PostgreSQL ${postgres}, load by ${loadTool}. Medians of ${options.rounds} interleaved rounds of ${options.seconds} s; ` +
      `${options.pool} database connections each${plans}.`,
    ...connections.flatMap((count) => block(count, report)),
    ...(report.stream === null ? [] : streamBlock(report.stream)),
    ...report.missing.map((line) => `Not measured: ${line}`),
  ].join('\n\n');
}

/** Returns a line for each work at which pgway sent wrong responses or failed. */
export function listFaults(summaries: readonly Summary[]): readonly string[] {
  return summaries
    .filter(
      ({ competitor, answers, failures }) =>
        describeCompetitor(competitor).isOwn && (isFaulty(answers) || failures > 0),
    )
    .map(
      ({ competitor, work, answers, failures }) =>
        `${competitor} at ${work}: ${formatAnswers(answers)} under load, ${failures} failed requests; ${answers?.example ?? ''}`,
    );
}

function isFaulty(answers: Summary['answers']): boolean {
  return answers !== null && answers.wrong + answers.failed > 0;
}

/** Returns the figures of the first contender, with the first number of connections. */
export function listHeadlines({ suite, summaries }: SuiteReport): readonly Headline[] {
  const title = contenderTitles[suite.contenders.find((name) => name !== suite.baseline)!];
  return summaries.flatMap(({ work, competitor, connections, requestsPerSecond, ratio }) =>
    competitor === title && connections === summaries[0]!.connections && ratio !== null
      ? [{ work, requestsPerSecond, ratio, against: suite.against }]
      : [],
  );
}

/** Returns a chart of the requests per second of each work. */
export function drawSuite(name: string, { suite, summaries }: SuiteReport): BarChart {
  const connections = summaries[0]?.connections ?? 0;
  const groups = suite.works.map((work) => ({
    title: work.name,
    bars: summaries
      .filter((summary) => summary.work === work.name && summary.connections === connections)
      .map(({ competitor, requestsPerSecond }): Bar => ({
        ...describeCompetitor(competitor),
        value: requestsPerSecond,
      })),
  }));
  return {
    name,
    title: `${suite.title}, ${connections} connections`,
    unit: 'requests per second',
    groups: groups.filter(({ bars }) => bars.length > 0),
  };
}

function block(connections: number, { suite, summaries }: SuiteReport): readonly string[] {
  const some = summaries.filter((summary) => summary.connections === connections);
  return [
    `### Requests per second, ${connections} connections (against ${suite.against})`,
    overview(suite, some),
    ...(suite.hasRivals === true ? ['### Ratio to the better form of each rival', betterForms(suite, some)] : []),
    `### In detail, ${connections} connections`,
    details(some),
    ...some.flatMap(({ competitor, work, answers }) =>
      typeof answers?.example === 'string' ? [`${competitor} at ${work}, for example: \`${answers.example}\``] : [],
    ),
  ];
}

function overview({ works, contenders }: Suite, summaries: readonly Summary[]): string {
  const ran = works.filter((work) => summaries.some((summary) => summary.work === work.name));
  const cell = (competitor: string, work: string): string => {
    const found = summaries.find((summary) => summary.competitor === competitor && summary.work === work);
    return found === undefined ? '-' : `${formatNumber(found.requestsPerSecond)} (${formatRatio(found.ratio)})`;
  };
  const rows = [...new Set(summaries.map((summary) => summary.competitor))].map((competitor) => [
    competitor,
    ...ran.map((work) => cell(competitor, work.name)),
  ]);
  const hasGoals = ran.some(({ goal }) => goal !== null);
  const goals = [`goal of ${contenderTitles[contenders[0]!]}`, ...ran.map((work) => `(${formatRatio(work.goal)})`)];
  return formatTable(['', ...ran.map((work) => work.name)], hasGoals ? [...rows, goals] : rows);
}

/** For each work, the requests per second of each pgway divided by the highest of the forms of a rival. */
function betterForms({ works }: Suite, summaries: readonly Summary[]): string {
  const ran = works.filter((work) => summaries.some((summary) => summary.work === work.name));
  const own = [...new Set(summaries.map(({ competitor }) => competitor))].filter(
    (name) => describeCompetitor(name).isOwn,
  );
  const rivals = [...new Set(summaries.map(({ competitor }) => rivalOf(competitor)).filter((title) => title !== null))];
  const rate = (work: string, isMeant: (competitor: string) => boolean): number =>
    Math.max(
      ...summaries
        .filter((summary) => summary.work === work && isMeant(summary.competitor))
        .map(({ requestsPerSecond }) => requestsPerSecond),
    );
  const ratio = (work: string, name: string, rival: string): number | null => {
    const found =
      rate(work, (competitor) => competitor === name) / rate(work, (competitor) => rivalOf(competitor) === rival);
    return Number.isFinite(found) ? found : null;
  };
  return formatTable(
    ['', ...ran.map(({ name }) => name)],
    own.flatMap((name) =>
      rivals.map((rival) => [`${name} ÷ ${rival}`, ...ran.map((work) => formatRatio(ratio(work.name, name, rival)))]),
    ),
  );
}

function details(summaries: readonly Summary[]): string {
  return formatTable(
    [
      '',
      'requests/s',
      'slowest',
      'fastest',
      'p50 ms',
      'p99 ms',
      'CPU µs/request',
      'of the database',
      'RSS MiB',
      'wrong',
      'failed',
    ],
    summaries.map((summary) => [
      `${summary.work}: ${summary.competitor}`,
      formatNumber(summary.requestsPerSecond),
      formatNumber(summary.slowest),
      formatNumber(summary.fastest),
      formatNumber(summary.p50),
      formatNumber(summary.p99),
      formatNumber(summary.cpu),
      formatNumber(summary.databaseCpu),
      formatMebibytes(summary.rss),
      formatAnswers(summary.answers),
      summary.answers === null ? '-' : formatCount(summary.answers.failed + summary.failures),
    ]),
  );
}

function formatAnswers(answers: Summary['answers']): string {
  return answers === null ? '-' : `${formatCount(answers.wrong)} of ${formatCount(answers.checked)}`;
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

function streamBlock(stream: StreamResult): readonly string[] {
  const { thousandPeak, slow, disconnected, fast } = stream;
  const memory = (peak: number): readonly string[] => {
    const more = peak - thousandPeak;
    return [formatMebibytes(peak), formatMebibytes(Math.max(0, more)), more <= memoryAllowance ? 'yes' : 'NO'];
  };
  const idle =
    disconnected.idleAfter === null
      ? 'database NOT idle'
      : `database idle after ${formatNumber(disconnected.idleAfter)} s`;
  const speed = `${formatNumber(fast.bytes / fast.seconds / 1e6)} MB/s (${formatNumber(fast.bytes / 1e6)} MB)`;
  return [
    `### A response of ${stream.rows.toLocaleString('en-US')} rows from pgway`,
    formatTable(
      ['reader', 'peak RSS MiB', 'more than 1,000 rows', `within ${formatMebibytes(memoryAllowance)} MiB`, ''],
      [
        ['1,000 rows, repeatedly', formatMebibytes(thousandPeak), '', '', ''],
        [`slow: pauses for ${slow.pauseSeconds} s`, ...memory(slow.peak), `database waits: ${slow.databaseWaits}`],
        ['disconnects after 1 MB', ...memory(disconnected.peak), idle],
        ['fast', ...memory(fast.peak), speed],
      ],
    ),
  ];
}
