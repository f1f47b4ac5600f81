/** Does something else than the next call of a method of the service, once. */
export function onNextCall<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  own: (original: T[K]) => T[K],
): void {
  const original = (owner[name] as (...values: unknown[]) => unknown).bind(owner) as T[K];
  const once = own(original) as (...values: unknown[]) => unknown;
  owner[name] = ((...values: unknown[]) => {
    delete (owner as Partial<T>)[name];
    return once(...values);
  }) as T[K];
}
