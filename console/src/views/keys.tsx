export default function View() {
  return (
    <main className="page">
      <h1>keys</h1>
    </main>
  );
}
