export default function View(_: { id: string }) {
  return (
    <main className="page">
      <h1>model</h1>
    </main>
  );
}
