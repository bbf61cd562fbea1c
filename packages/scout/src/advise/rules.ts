/** All rules, in the order of their findings. */
import type { Rule } from './finding.ts';
import { grantRules } from './grant-rules.ts';
import { indexRules } from './index-rules.ts';
import { policyRules } from './policy-rules.ts';
import { scanRules } from './scan-rules.ts';
import { tableRules } from './table-rules.ts';

export const rules: readonly Rule[] = [...tableRules, ...policyRules, ...grantRules, ...indexRules, ...scanRules];
