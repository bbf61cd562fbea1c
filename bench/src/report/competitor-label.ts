import { contenderTitles } from '../contenders/contender.ts';
import { pgbenchTitle } from '../pgbench.ts';
import type { Bar } from './bar-chart.ts';

/** Labels that have enough space in a chart. */
const shortTitles: Readonly<Record<string, string>> = {
  [contenderTitles['pgway-generic']]: 'pgway, generic plans',
  [contenderTitles['pgway-unshared']]: 'pgway, unshared',
  [contenderTitles.server]: 'pgway server, all cores',
  [contenderTitles['server-one']]: 'pgway server, one process',
  [contenderTitles['server-quiet']]: 'pgway server, no access log',
  [contenderTitles.fastify]: 'Fastify + pg',
  [contenderTitles['fastify-json']]: 'Fastify + pg, json_agg',
  [contenderTitles.express]: 'Express + pg',
  [contenderTitles.bare]: 'node:http',
  [pgbenchTitle]: 'limit: pgbench',
};

/** Returns the label of a competitor in charts, and whether it is pgway. */
export function describeCompetitor(title: string): Pick<Bar, 'label' | 'isOwn'> {
  return { label: shortTitles[title] ?? title, isOwn: title.startsWith('pgway') };
}
