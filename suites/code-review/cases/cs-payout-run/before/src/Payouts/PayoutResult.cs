namespace Payouts
{
    /// <summary>What became of a payout.</summary>
    public sealed class PayoutResult
    {
        public PayoutResult(Payout payout, string reference, string error)
        {
            Payout = payout;
            Reference = reference;
            Error = error;
        }

        public Payout Payout { get; }

        public string Reference { get; }

        public string Error { get; }
    }
}
