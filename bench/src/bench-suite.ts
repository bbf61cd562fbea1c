import { compete } from './compete.ts';
import { openDatabase, runSql } from './database.ts';
import { chooseLoadTool } from './load/choose-load-tool.ts';
import type { BenchOptions } from './options.ts';
import type { Section } from './report/section.ts';
import { drawSuite, listFaults, listHeadlines, writeSuiteReport } from './report/suite-report.ts';
import { summarize } from './report/summary.ts';
import { measureStream } from './stream.ts';
import { baselineTitle, type Suite } from './suite.ts';

export interface BenchContext {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

const fewRows = 1000;

/** Measures all selected competitors at all selected works of a suite. */
export async function benchSuite(
  name: string,
  suite: Suite,
  options: BenchOptions,
  { signal, log }: BenchContext,
): Promise<Section> {
  const tool = chooseLoadTool();
  const hasStream = suite.hasStream && options.has('stream');
  const rows = hasStream ? options.streamRows : fewRows;
  log(`a database with ${rows.toLocaleString('en-US')} rows …`);
  const database = await openDatabase(options.database, rows, options.genericPlans);
  try {
    if (suite.schemaSql !== null) await runSql(database.connectionString, suite.schemaSql);
    const settings = { connectionString: database.connectionString, pool: options.pool };
    const { series, missing } = await compete({
      suite,
      settings,
      tool,
      options,
      signal,
      log,
      databaseCpu: () => database.cpu(),
    });
    if (hasStream) log('a stream …');
    const streamOptions = { rows, pauseSeconds: options.streamPauseSeconds, signal };
    const stream = hasStream ? await measureStream(database, settings, streamOptions) : null;
    const summaries = summarize(series, baselineTitle(suite));
    const report = { suite, options, postgres: database.version, loadTool: tool.name, summaries, stream, missing };
    return {
      title: suite.title,
      text: writeSuiteReport(report),
      headlines: listHeadlines(report),
      charts: summaries.length === 0 ? [] : [drawSuite(name, report)],
      data: { options, postgres: database.version, loadTool: tool.name, summaries, series, stream, missing },
      faults: listFaults(summaries),
    };
  } finally {
    await database.close();
  }
}
