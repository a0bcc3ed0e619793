// Multi-document YAML on standard input, a JSON array of objects on standard output. Each is
// checked against the schema of its kind; what is wrong goes to standard error, exit 1.
// usage: node objects.mjs NODE_MODULES
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const modules = process.argv[2];
const yaml = createRequire(`${modules}/`)('js-yaml');

async function model(apiVersion, kind) {
    const home = apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
    return (await import(`${modules}/${home}/${apiVersion}/${kind}.js`))[kind];
}

const objects = yaml.loadAll(readFileSync(0, 'utf8')).filter(Boolean);
const seen = new Set();
let bad = 0;
for (const object of objects) {
    const name = `${object.kind} ${object.metadata.namespace || ''}/${object.metadata.name}`;
    try {
        if (seen.has(name))
            throw new Error('is there twice');
        seen.add(name);
        const Model = await model(object.apiVersion, object.kind);
        new Model(object).validate();
    } catch (error) {
        console.error(`${name}: ${error.message}`);
        bad = 1;
    }
}
console.log(JSON.stringify(objects));
process.exit(bad);
