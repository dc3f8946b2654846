using System.Globalization;

namespace Payouts
{
    /// <summary>One line of the report for finance.</summary>
    public sealed class RunSummary
    {
        public RunSummary(int succeeded, int failed, decimal paid)
        {
            Succeeded = succeeded;
            Failed = failed;
            Paid = paid;
        }

        public int Succeeded { get; }

        public int Failed { get; }

        public decimal Paid { get; }

        public override string ToString()
        {
            return string.Format(CultureInfo.InvariantCulture, "{0} paid, {1} failed, {2:0.00} EUR", Succeeded, Failed, Paid);
        }
    }
}
