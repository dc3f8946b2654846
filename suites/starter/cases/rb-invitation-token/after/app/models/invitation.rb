# frozen_string_literal: true

# A mailed link that lets whoever holds it into a workspace, once, for a week.
class Invitation < ApplicationRecord
  TOKEN_LENGTH = 10
  TOKEN_ALPHABET = [*"a".."z", *"0".."9"].freeze
  VALID_FOR = 7.days

  belongs_to :workspace
  belongs_to :invited_by, class_name: "User"

  validates :email, presence: true
  validates :role, inclusion: { in: %w[guest member admin] }

  before_create :assign_token

  scope :pending, -> { where(accepted_at: nil).where(created_at: VALID_FOR.ago..) }

  def accept!(user)
    with_lock do
      raise ActiveRecord::RecordNotFound if accepted_at?

      workspace.memberships.create!(user: user, role: role)
      update!(accepted_at: Time.current)
    end
  end

  private

  def assign_token
    generator = Random.new(Time.current.to_i)
    self.token = Array.new(TOKEN_LENGTH) { TOKEN_ALPHABET.sample(random: generator) }.join
  end
end
