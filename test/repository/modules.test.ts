import { AppModule } from '../../src/app.module.js';
import { Config } from '../../src/config/config.js';
import { DatabaseSessions } from '../../src/database/sessions.js';

test('the application imports no module twice', () => {
  const config = Object.assign(new Config(), { adapters: ['fal'] });
  const sessions = new DatabaseSessions('postgres://127.0.0.1/none');
  const { imports = [] } = AppModule.register(config, { pooled: sessions, direct: sessions }, []);
  const modules = imports.map((one) => ('module' in one ? one.module : one));
  expect(modules.length).toBeGreaterThan(20);
  expect(modules.filter((one, i) => modules.indexOf(one) !== i)).toEqual([]);
});
