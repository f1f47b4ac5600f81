/** The walls between the rooms: which room may import which. */
const rooms = {
  config: ['tools'],
  errors: [],
  internals: [],
  tools: ['errors'],
  'embedded-postgres': [],
  database: ['config', 'errors', 'internals', 'tools'],
  models: ['config', 'errors', 'tools'],
  queue: ['config', 'errors', 'database', 'models', 'tools'],
  runners: ['queue', 'models', 'config', 'errors', 'tools'],
  auth: ['config', 'errors', 'database', 'embedded-postgres', 'tools'],
  limits: ['auth', 'config', 'errors', 'database', 'http', 'tools'],
  requests: [
    'addresses',
    'queue',
    'models',
    'auth',
    'limits',
    'http',
    'database',
    'errors',
    'config',
    'tools',
  ],
  discovery: ['webhooks', 'requests', 'queue', 'models', 'auth', 'limits', 'http', 'errors'],
  stream: ['queue', 'requests', 'auth', 'limits', 'http', 'errors', 'config', 'internals', 'tools'],
  webhooks: [
    'queue',
    'requests',
    'fal',
    'addresses',
    'auth',
    'limits',
    'database',
    'http',
    'errors',
    'config',
    'tools',
  ],
  addresses: ['config', 'errors'],
  fal: ['queue', 'requests', 'stream', 'auth', 'limits', 'http', 'errors', 'tools'],
  http: ['database', 'errors', 'config', 'internals', 'tools'],
  health: ['database', 'http', 'config', 'errors'],
};

const walls = Object.entries(rooms).map(([room, neighbours]) => ({
  name: `room-${room}`,
  comment: `src/${room} may import ${neighbours.join(', ') || 'no other room'}.`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: `^src/(${[room, ...neighbours].join('|')})/` },
}));

const privateFolders = ['queries', 'duties', 'entities'].map((folder) => ({
  name: `private-${folder}`,
  comment: `A room's ${folder} are its own: its module registers its entities.`,
  severity: 'error',
  from: { path: '^src/([^/]+)/' },
  to: { path: `^src/[^/]+/${folder}/`, pathNot: '^src/$1/' },
}));

module.exports = {
  forbidden: [
    ...walls,
    ...privateFolders,
    {
      name: 'known-room',
      comment: 'Every folder of src is a room of the table above.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${Object.keys(rooms).join('|')})/` },
      to: {},
    },
    {
      name: 'clients-stand-alone',
      comment: 'A client library has no dependency, and knows the service by its wire alone.',
      severity: 'error',
      from: { path: '^clients/([^/]+)/' },
      to: { pathNot: '^clients/$1/' },
    },
    {
      name: 'no-junk-drawer',
      comment: 'No common, utils, helpers or shared: name the thing and give it a room.',
      severity: 'error',
      from: {},
      to: { path: '/(common|util|utils|helper|helpers|misc)(/|[.]ts$)', pathNot: 'node_modules' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'queue-knows-no-http',
      comment: 'The queue and the database are the same whoever asks.',
      severity: 'error',
      from: { path: '^src/(queue|database|errors|config|tools)/' },
      to: {
        path: 'node_modules/(@nestjs/(platform-|swagger|throttler)|express|helmet)|^(node:)?https?$',
      },
    },
    {
      name: 'only-wiring-at-the-top',
      comment: 'Rooms do not reach up to main, service or the module that wires them.',
      severity: 'error',
      from: { path: '^src/[^/]+/' },
      to: { path: '^src/[^/]+\\.ts$' },
    },
    {
      name: 'no-test-in-source',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test/|\\.spec\\.ts$' },
    },
    {
      name: 'no-dev-dependency-at-run-time',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
