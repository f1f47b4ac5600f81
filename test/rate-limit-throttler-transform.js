/**
 * Jest on Node 20 cannot `require` an ES module, and @nestjs/throttler is CommonJS that requires Nest, which is
 * ESM only. This turns its files into ES modules on the way in. Not needed once Node 20 is out of support.
 */
export default {
  process(source) {
    const required = [...new Set([...source.matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1]))];
    const exporting = /^(?:exports\.(\w+) = |Object\.defineProperty\(exports, "(?!__esModule)(\w+)")/gm;
    const names = [...new Set([...source.matchAll(exporting)].map((match) => match[1] ?? match[2]))];
    const again = [...source.matchAll(/__exportStar\(require\("([^"]+)"\), exports\)/g)].map(
      (match) => match[1],
    );
    const code = [
      ...required.map((name, i) => `import * as required${i} from '${name}';`),
      `const modules = { ${required.map((name, i) => `'${name}': required${i}`).join(', ')} };`,
      `const exported = {};`,
      `(function (require, exports) {${source}\n})((name) => modules[name], exported);`,
      ...names.map((name) => `const exported_${name} = exported.${name};`),
      `export { ${names.map((name) => `exported_${name} as ${name}`).join(', ')} };`,
      ...again.map((name) => `export * from '${name}';`),
    ].join('\n');
    return { code };
  },
};
