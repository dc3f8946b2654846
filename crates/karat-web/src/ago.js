// Shows how long ago times were; without this, and in their tooltips, they are exact.
const ago = (ms) => {
  const minutes = Math.round(ms / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.round(hours / 24);
  return days === 1 ? "1 day ago" : `${days} days ago`;
};
const showAges = () => {
  for (const time of document.querySelectorAll("main time[datetime]")) {
    const age = Date.now() - Date.parse(time.dateTime);
    // After a month the date says more.
    time.textContent = age < 30 * 24 * 3600000 ? ago(age) : time.dateTime.slice(0, 10);
  }
};
showAges();
setInterval(showAges, 30000);
