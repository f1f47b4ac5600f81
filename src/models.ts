import { runCommandLine } from './command-line.js';
import { programOf } from './config/program.js';
import { presetNames, presetText } from './runners/mapping/mapping.js';

const program = programOf('models', 'Shows how model servers are described.').exitOverride();

program
  .command('preset')
  .description('Prints a preset of the http runner, or the names of all.')
  .argument('[name]', 'its name, such as openai')
  .action((name: string | undefined) => {
    if (name !== undefined && !presetNames.includes(name))
      program.error(`There is no preset "${name}". There are ${presetNames.join(', ')}.`);
    process.stdout.write(name === undefined ? `${presetNames.join('\n')}\n` : presetText(name));
  });

await runCommandLine(program);
