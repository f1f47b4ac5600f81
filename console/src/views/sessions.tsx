export default function View() {
  return (
    <main className="page">
      <h1>sessions</h1>
    </main>
  );
}
