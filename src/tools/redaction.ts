/** What stands in the place of a secret. */
const hidden = '…';
/** Shorter ones would tear holes into texts that have nothing to do with them. */
const minSecretLength = 6;

const uuidV7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
/** Members of a line whose ids are those of other things than requests. */
const otherIds = '"(?:delivery|endpoint|key|node|operation|session)Id":"';
const requestIds = new RegExp(`(?<!${otherIds})\\b${uuidV7}\\b`, 'g');

const rights: readonly (readonly [RegExp, string])[] = [
  // Up to the last @: a password that was not percent-encoded may hold one, or what would end it.
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>\\]*@/gi, `$1${hidden}@`],
  [/\bns_[\w-]{20,}/g, `ns_${hidden}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${hidden}`],
  [/(#link=)[\w-]+/g, `$1${hidden}`],
  [/(\/v1\/files\/|\/v1\/storage\/uploads\/)[^\s"'<>\\]+/g, `$1${hidden}`],
  // Where a store keeps the bytes of a file, as its errors name it.
  [/(?<=[/>])[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, hidden],
];

/**
 * Takes out of a text what gives its reader a right: secrets, files, keys, and the ids of requests, which become handles.
 * Every line of the log passes it.
 */
export class Redaction {
  /** The handle of a request's id; until it is known ids are hidden. */
  handleOf: (requestId: string) => string = () => `rh_${hidden}`;
  private readonly ofEnvironment: readonly string[];
  private ofModels: readonly string[] = [];

  constructor(environment: Readonly<Record<string, string | undefined>> = {}) {
    this.ofEnvironment = written(secretsOf(environment));
  }

  /** Secrets that models are called with. */
  setModelSecrets(secrets: readonly string[]): void {
    this.ofModels = written(secrets);
  }

  text(text: string): string {
    return this.handles(this.secrets(text));
  }

  private handles(text: string): string {
    return text.replace(requestIds, this.handleOf);
  }

  /** Leaves ids as they are, for what a program prints to its operator. */
  secrets(text: string): string {
    let result = text;
    for (const secret of [...this.ofEnvironment, ...this.ofModels])
      if (result.includes(secret)) result = result.replaceAll(secret, hidden);
    for (const [pattern, replacement] of rights) result = result.replace(pattern, replacement);
    return result;
  }

  /** The path of a call. Below `/v1/admin` there are ids of many things, and requests below their own part of it. */
  path(path: string): string {
    if (!mayHoldMore.test(path)) return path.includes('-7') ? this.handles(path) : path;
    const plain = decoded(path);
    return /^\/v1\/admin\/(?!requests\/)/.test(plain) ? plain : this.text(plain);
  }
}

/** Most paths hold no right but the id of a request, and each call has one. An id may be percent-encoded. */
const mayHoldMore = /%|\/v1\/(?:files|storage|admin)\/|ns_|whsec_|@/;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const secretVariables = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'BOOTSTRAP_API_KEY',
  'OIDC_CLIENT_SECRET',
  'WEBHOOK_SECRET',
  'SECRETS_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

/** The secrets among the settings; of a URL its password too. */
function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  return secretVariables.flatMap((name) => {
    const value = environment[name]?.trim();
    return value ? [value, ...passwordsOf(value)] : [];
  });
}

/** The password of a URL as it was written, and as it is meant. */
export function passwordsOf(url: string): string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^:/?#@]*:(.*)@/is.exec(url) ?? [];
  return password === undefined ? [] : [password, decoded(password)];
}

/** As they may stand in a text, also within JSON; the longest first, as one may be a part of another. */
function written(secrets: readonly string[]): string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ]);
  return [...new Set(forms)]
    .filter(({ length }) => length >= minSecretLength)
    .sort((one, other) => other.length - one.length);
}
