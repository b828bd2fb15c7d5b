// check_labs.mjs SOURCE_FOLDER BIN_FOLDER [LAB...]: plays the labs of docs/workshop.
import {existsSync, readFileSync} from 'node:fs';

import {checkRunLab} from './check_run_lab.mjs';
import {expectations, secondsOf} from './expectations.mjs';
import {commandsOf, play, stopAll} from './play.mjs';

const kLabs = 8;
// A neighbour on the machine may spoil two seconds of wrk, but hardly three times.
const kAttempts = 3;

const [root, bin, ...chosen] = process.argv.slice(2);
for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => { stopAll(); process.exit(1); });
}

/** The lines that a page takes away or keeps stand in the code, once. */
function checkChanges(page) {
    const changes = [...page.matchAll(/^```diff\n--- (\S+)\n([^]*?)^```$/gm)];
    if (changes.length === 0) throw new Error('there is nothing to change in the code');
    for (const [, file, lines] of changes) {
        const before = lines.split('\n').filter((line) => /^[- ]/.test(line))
            .map((line) => line.slice(1) + '\n').join('');
        const source = readFileSync(`${root}/${file}`, 'utf8');
        if (before === '' || source.split(before).length !== 2) {
            throw new Error(`${file} does not hold this once:\n${before}`);
        }
    }
}

async function checkLab(lab) {
    checkChanges(readFileSync(`${root}/docs/workshop/lab-${lab}.md`, 'utf8'));
    const commands = commandsOf(root, lab);
    const expected = expectations[lab];
    const typed = commands.filter(({terminal}) => terminal > 2);
    if (typed.length !== expected.length) {
        throw new Error(`${typed.length} commands, ${expected.length} expectations`);
    }
    const records = await play(commands, bin, secondsOf);
    records.forEach((record, place) => {
        try {
            expected[place](record, records);
        } catch (error) {
            throw new Error(`command ${place + 1}: ${record.command}\n  ${error.message}`);
        }
    });
}

let failures = 0;
const labs = chosen.length > 0 ? chosen : Array.from({length: kLabs}, (_, n) => String(n + 1));
const checks = labs.map((lab) => [`lab ${lab}`, () => checkLab(lab)]);
if (chosen.length === 0) {
    checks.unshift(['run-lab', () => checkRunLab(root)]);
    if (existsSync(`${root}/docs/workshop/lab-${kLabs + 1}.md`)) {
        checks.push(['all labs', () => { throw new Error('there are more than these'); }]);
    }
}
for (const [name, check] of checks) {
    const begin = Date.now();
    let failure;
    for (let attempt = 1; attempt <= kAttempts; ++attempt) {
        try {
            await check();
            failure = undefined;
            break;
        } catch (error) {
            failure = error;
            stopAll();
            console.log(`${name}, attempt ${attempt}: ${error.message}`);
        }
    }
    failures += failure ? 1 : 0;
    const elapsed_s = Math.round((Date.now() - begin) / 1000);
    console.log(`${failure ? 'FAILED' : 'ok'}: ${name}, ${elapsed_s} s`);
}
process.exit(failures === 0 ? 0 : 1);
