using System;

namespace Payouts
{
    /// <summary>Money that is due to a seller.</summary>
    public sealed class Payout
    {
        public Payout(string id, string account, decimal amount)
        {
            if (amount <= 0)
            {
                throw new ArgumentOutOfRangeException(nameof(amount));
            }
            Id = id;
            Account = account;
            Amount = amount;
        }

        public string Id { get; }

        public string Account { get; }

        public decimal Amount { get; }
    }
}
