import { Command } from 'commander';
import { usageOf } from './package.js';

/** A program of the service for the command line. `help`: what its help shows after the options. */
export function programOf(
  name: string,
  description: string,
  help = '',
  options: { isPiped?: boolean } = {},
): Command {
  return new Command(usageOf(name, options))
    .description(description)
    .helpCommand(false)
    .showHelpAfterError('(--help shows what is possible)')
    .addHelpText('after', help);
}
