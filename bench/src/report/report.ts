import { type Conditions, describeConditions } from './conditions.ts';
import type { Section } from './section.ts';

export interface Report {
  readonly conditions: Conditions;
  readonly sections: readonly Section[];
}

/** Returns the report as Markdown. */
export function writeReport({ conditions, sections }: Report): string {
  const parts = [
    `# Bench of ${conditions.date}`,
    describeConditions(conditions),
    ...sections.flatMap(({ title, text }) => [`## ${title}`, text]),
  ];
  return `${parts.join('\n\n')}\n`;
}
