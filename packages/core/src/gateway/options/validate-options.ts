import type { GatewayOptions } from './options.ts';
import { StartError } from '../start-error.ts';
import { group } from '../../validation/validators.ts';
import { gatewayOptionTable } from './gateway-option-table.ts';

const gatewayOptions = group(gatewayOptionTable);

/**
 * Checks the names, types and ranges of all options, also of nested ones.
 * @throws StartError with one line for each fault
 */
export function validateOptions(options: GatewayOptions): void {
  const faults = gatewayOptions.faults(options, '');
  if (faults.length > 0) throw new StartError(faults.join('\n'));
}
