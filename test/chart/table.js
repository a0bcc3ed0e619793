// Prints the values of a chart as a Markdown table: names and defaults from values.yaml,
// descriptions from values.schema.json. Fails when one has what the other lacks.
const fs = require('fs');
const yaml = require('js-yaml');

const chart = process.argv[2];
const values = yaml.load(fs.readFileSync(`${chart}/values.yaml`, 'utf8'));
const schema = JSON.parse(fs.readFileSync(`${chart}/values.schema.json`, 'utf8'));
const problems = [];
const rows = [];

// A branch is an object whose members the schema names and describes for the chart's own sake.
function isBranch(value, rule) {
    return value !== null && typeof value === 'object' && !Array.isArray(value) && rule.properties &&
        Object.keys(value).length > 0 && Object.values(rule.properties).every((each) => each.description || each.$ref);
}

function visit(path, value, rule) {
    if (!rule) {
        problems.push(`${path} is not in the schema`);
        return;
    }
    if (isBranch(value, rule)) {
        for (const key of Object.keys(value))
            visit(path ? `${path}.${key}` : key, value[key], rule.properties[key]);
        // What the schema allows without a default is a value too.
        for (const key of Object.keys(rule.properties))
            if (!(key in value) && key !== 'global' && path !== 'resources' && path !== 'tests.resources')
                rows.push([`${path}.${key}`, 'unset', rule.properties[key].description]);
        return;
    }
    if (!rule.description)
        problems.push(`${path} has no description`);
    rows.push([path, '`' + JSON.stringify(value) + '`', rule.description]);
}

visit('', values, schema);
for (const key of Object.keys(schema.properties))
    if (!(key in values) && key !== 'global')
        problems.push(`${key} is in the schema only`);
if (problems.length > 0) {
    console.error(problems.join('\n'));
    process.exit(1);
}
const cell = (text) => String(text).replace(/\|/g, '\\|');
console.log('| value | default | meaning |\n|---|---|---|');
for (const [path, standard, meaning] of rows)
    console.log(`| \`${path}\` | ${cell(standard)} | ${cell(meaning)} |`);
