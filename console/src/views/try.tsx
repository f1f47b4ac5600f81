export default function View(_: { model?: string | undefined }) {
  return (
    <main className="page">
      <h1>try</h1>
    </main>
  );
}
