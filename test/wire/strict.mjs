// strict.mjs SHARED DIR: every golden request passes the rules that real providers enforce.
import fs from 'node:fs';
import path from 'node:path';

const [shared, dir] = process.argv.slice(2);
const rules = path.resolve(shared, 'tools/strict.mjs');
if (!fs.existsSync(rules)) {
  console.log(`SKIPPED: ${rules} is not there, so requests cannot be checked`);
  process.exit(77);
}
const { check } = await import(rules);
const kinds = { 'anthropic-messages': 'anth', 'openai-chat': 'chat', 'openai-responses': 'resp', gemini: 'gem' };
let n = 0, failed = 0;
for (const [folder, kind] of Object.entries(kinds)) {
  const names = fs.existsSync(path.join(dir, folder)) ? fs.readdirSync(path.join(dir, folder)) : [];
  if (!names.length) { console.log(`${folder}: no golden requests`); failed++; }
  for (const name of names.filter(x => x.endsWith('.request.json'))) {
    const why = check(kind, JSON.parse(fs.readFileSync(path.join(dir, folder, name), 'utf8')));
    n++;
    if (why) { console.log(`${folder}/${name}: ${why}`); failed++; }
  }
}
console.log(`${n - failed} passed, ${failed} failed`);
process.exit(failed || !n ? 1 : 0);
