using System;

namespace Warehouse
{
    /// <summary>Repeats calls that time out. May be used by several threads.</summary>
    public sealed class RetryPolicy
    {
        private const int Attempts = 4;
        private const int BaseMilliseconds = 200;

        private readonly object gate = new object();
        private readonly Random random = new Random();
        private readonly Action<TimeSpan> sleep;

        public RetryPolicy(Action<TimeSpan> sleep)
        {
            this.sleep = sleep;
        }

        /// <summary>Calls until there is an answer; the call must be one that can be repeated.</summary>
        public T Run<T>(Func<T> call)
        {
            for (var attempt = 1; ; attempt++)
            {
                try
                {
                    return call();
                }
                catch (TimeoutException) when (attempt < Attempts)
                {
                    sleep(Pause(attempt));
                }
            }
        }

        /// <summary>200, 400 and 800 ms, each plus up to as much again.</summary>
        private TimeSpan Pause(int attempt)
        {
            var milliseconds = BaseMilliseconds << (attempt - 1);
            lock (gate)
            {
                milliseconds += random.Next(milliseconds);
            }
            return TimeSpan.FromMilliseconds(milliseconds);
        }
    }
}
