import type { GatewayOptions } from './options.ts';
import { StartError } from '../start-error.ts';
import { optionGroup } from '../../validation/validators.ts';
import { gatewayOptionTable } from './gateway-option-table.ts';

const gatewayOptions = optionGroup(gatewayOptionTable);

/**
 * Checks the names, types and ranges of all options, also of nested ones.
 * @throws StartError with one line for each fault
 */
export function validateOptions(options: GatewayOptions): void {
  const faults = gatewayOptions.validate(options, '');
  if (faults.length > 0) throw new StartError(faults.join('\n'));
}
