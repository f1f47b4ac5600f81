/** The replacement for a secret. */
const hidden = '…';
/** Replacing shorter secrets would damage unrelated texts. */
const minSecretLength = 6;

const uuidV7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
/** Members of a log line whose ids are not request ids. */
const otherIds = '"(?:delivery|endpoint|key|node|operation|session)Id":"';
const requestIds = new RegExp(`(?<!${otherIds})\\b${uuidV7}\\b`, 'g');

/** Redacted paths are kept, because a polled request is in the log again and again. */
const maxKeptPaths = 10_000;
/** Longer paths are not kept, so that invented ones take little memory. */
const maxKeptLength = 200;
/** At most this many secrets that models used before are kept. */
const maxFormerSecrets = 1_000;

/** A URL, or what follows one in a text without a space. The scheme is bounded, so that a search takes linear time. */
const urls = /([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s"'<>\\]*)/gi;

/** Up to the last @, because a password that was not percent-encoded may contain an @ or a delimiter. */
const withoutUser = (text: string): string =>
  text.replace(urls, (url: string, scheme: string, rest: string) => {
    const at = rest.lastIndexOf('@');
    return at === -1 ? url : scheme + hidden + rest.slice(at);
  });

const rights: readonly (readonly [RegExp, string])[] = [
  [/\bns_[\w-]{20,}/g, `ns_${hidden}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${hidden}`],
  [/(#link=)[\w-]+/g, `$1${hidden}`],
  [/(\/v1\/files\/|\/v1\/storage\/uploads\/)[^\s"'<>\\]+/g, `$1${hidden}`],
  // The name under which a store keeps a file's bytes, as its errors show it.
  [/(?<=[/>])[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, hidden],
];

/**
 * Removes from a text everything that grants rights: secrets, files and keys. Ids of requests become handles. Every
 * line of the log is redacted.
 */
export class Redaction {
  /** Returns the handle of a request's id. */
  private handleOf: (requestId: string) => string = () => `rh_${hidden}`;
  private readonly paths = new Map<string, string>();
  private readonly ofEnvironment: readonly string[];
  /** The current secrets of models, and then earlier ones, the latest first. */
  private modelSecrets: readonly string[] = [];
  private ofModels: readonly string[] = [];

  constructor(environment: Readonly<Record<string, string | undefined>> = {}) {
    this.ofEnvironment = written(secretsOf(environment));
  }

  /** Sets the secrets used to call models. Earlier ones stay hidden, because a run in progress may still use them. */
  setModelSecrets(secrets: readonly string[]): void {
    const current = new Set(secrets);
    const all = new Set([...secrets, ...this.modelSecrets]);
    this.modelSecrets = [...all].slice(0, current.size + maxFormerSecrets);
    this.ofModels = written(this.modelSecrets);
  }

  /** Until this is called, ids are hidden. */
  useHandles(handleOf: (requestId: string) => string): void {
    this.handleOf = handleOf;
    this.paths.clear();
  }

  text(text: string): string {
    return this.handles(this.secrets(text));
  }

  private handles(text: string): string {
    return text.replace(requestIds, this.handleOf);
  }

  /** Keeps ids, for what a program prints to its operator. */
  secrets(text: string): string {
    let result = text;
    for (const secret of [...this.ofEnvironment, ...this.ofModels])
      if (result.includes(secret)) result = result.replaceAll(secret, hidden);
    result = withoutUser(result);
    for (const [pattern, replacement] of rights) result = result.replace(pattern, replacement);
    return result;
  }

  /** Redacts the path of a call. Below `/v1/admin`, only paths below `requests/` have ids of requests. */
  path(path: string): string {
    const known = this.paths.get(path);
    if (known !== undefined) return known;
    if (!mayHoldMore.test(path)) return this.kept(path, this.handles(path));
    const plain = decoded(path);
    return /^\/v1\/admin\/(?!requests\/)/.test(plain) ? plain : this.text(plain);
  }

  private kept(path: string, redacted: string): string {
    if (path.length > maxKeptLength) return redacted;
    if (this.paths.size >= maxKeptPaths) this.paths.clear();
    this.paths.set(path, redacted);
    return redacted;
  }
}

/** Most paths grant no right except by the id of a request, which every call has. An id may be percent-encoded. */
const mayHoldMore = /%|\/v1\/(?:files|storage|admin)\/|ns_|whsec_|@/;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The settings that are secret. Each may be in a file, which `NAME_FILE` then names. */
export const secretVariables = [
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

/** Returns the secrets among the settings, including the passwords of URLs. */
function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  return secretVariables.flatMap((name) => {
    const value = environment[name]?.trim();
    return value ? [value, ...passwordsOf(value)] : [];
  });
}

/** Returns the password of a URL, as written and decoded. */
export function passwordsOf(url: string): string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^:/?#@]*:(.*)@/is.exec(url) ?? [];
  return password === undefined ? [] : [password, decoded(password)];
}

/**
 * Returns the forms in which secrets may appear in a text, including JSON. The longest come first, because one may be a
 * part of another.
 */
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
