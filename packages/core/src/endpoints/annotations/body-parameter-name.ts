import { someText } from '../comment/parse-values.ts';
import { type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

/** The parameter is looked up after the whole comment has been parsed. */
export const bodyParameterName: ValueAnnotation<string> = valueAnnotation({
  key: 'bodyParameterName',
  names: ['body_parameter_name', 'body_param_name'],
  syntax: ['body_parameter_name <name>', 'body_parameter_name = <name>'],
  documentation:
    'The parameter, by its original or converted name, that receives the whole request body as text. The other parameters come from the query string. Any type is allowed: PostgreSQL parses the text, so `{1,2}` is an integer array. The method does not change.',
  isGuard: true,
  parse: someText('the name of a parameter'),
});
