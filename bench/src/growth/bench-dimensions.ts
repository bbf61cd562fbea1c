/** Measures how costs grow with connections, responses, event streams and tenants. */
import type { BenchContext } from '../bench-suite.ts';
import { openDatabase, runSql } from '../database.ts';
import { chooseLoadTool } from '../load/choose-load-tool.ts';
import type { BarChart } from '../report/bar-chart.ts';
import type { Section } from '../report/section.ts';
import { formatNumber, formatTable } from '../report/table.ts';
import { type Costs, type Dimension, dimensions, dimensionsSql } from './dimensions.ts';
import type { GrowthBenchOptions } from './options.ts';
import { formatSlope } from './slope.ts';

interface Result {
  readonly dimension: Dimension;
  readonly points: readonly { readonly size: number; readonly costs: Costs }[];
}

export async function benchDimensions(options: GrowthBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const tool = chooseLoadTool();
  const database = await openDatabase(options.database, 1);
  try {
    await runSql(database.connectionString, dimensionsSql);
    const bench = {
      connectionString: database.connectionString,
      tool,
      seconds: options.seconds,
      requests: options.isQuick ? 100 : 5_000,
      signal,
    };
    const results: Result[] = [];
    for (const dimension of dimensions) {
      const points: { size: number; costs: Costs }[] = [];
      for (const size of options.isQuick ? dimension.quickSizes : dimension.sizes) {
        log(`growth: ${formatSize(size)} ${dimension.unit} (${dimension.name}) …`);
        points.push({ size, costs: await dimension.measure(size, bench) });
      }
      results.push({ dimension, points });
    }
    return {
      title: 'Growth: connections, responses, streams, tenants',
      text: writeReport(results, database.version, tool.name, options.seconds),
      charts: results.map(drawResult),
      data: { options, postgres: database.version, loadTool: tool.name, results },
      faults: [],
    };
  } finally {
    await database.close();
  }
}

function formatSize(size: number): string {
  return size.toLocaleString('en-US');
}

function slopes({ points }: Result): readonly (readonly [cost: string, slope: string])[] {
  return Object.keys(points[0]!.costs).map((cost) => [
    cost,
    formatSlope(points.map(({ size, costs }) => [size, costs[cost]!])),
  ]);
}

function writeReport(results: readonly Result[], postgres: string, tool: string, seconds: number): string {
  const tables = results.map((result) => {
    const { dimension, points } = result;
    const names = Object.keys(points[0]!.costs);
    const rows = points.map(({ size, costs }) => [
      formatSize(size),
      ...names.map((name) => formatNumber(costs[name]!)),
    ]);
    return formatTable(
      [`${dimension.name}, ${dimension.unit}`, ...names],
      [...rows, ['slope', ...slopes(result).map(([, slope]) => slope)]],
    );
  });
  const introduction =
    `PostgreSQL ${postgres}, load by ${tool}, ${seconds} s for each size. CPU is that of the process of the gateway. ` +
    'The slope is that of logarithms: 0 where a cost is constant, 1 where it is proportional to the size.';
  return [introduction, ...tables].join('\n\n');
}

function drawResult(result: Result): BarChart {
  const { dimension, points } = result;
  return {
    name: `growth-${dimension.name.replaceAll(' ', '-')}`,
    title: `Growth: ${dimension.name}`,
    unit: 'less is better',
    groups: slopes(result).map(([cost, slope]) => ({
      title: `${cost}; slope ${slope}`,
      bars: points.map(({ size, costs }) => ({
        label: `${formatSize(size)} ${dimension.unit}`,
        value: costs[cost]!,
        isOwn: true,
      })),
    })),
  };
}
